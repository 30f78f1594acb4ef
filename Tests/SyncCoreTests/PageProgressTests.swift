import EDM
import ODataWire
import Testing

@testable import SyncCore

struct PageProgressTests {
    @Test func `any number of pages that begin with a new entity are accepted`() {
        var progress = PageProgress(limit: 3)
        let pages = (0..<1_000).map { progress.shouldContinue(after: ExactText("\($0)")) }
        #expect(pages.allSatisfy { $0 })
    }

    @Test func `a limited number of consecutive empty pages is accepted`() {
        var progress = PageProgress(limit: 3)
        let pages = (0..<3).map { _ in progress.shouldContinue(after: nil) }
        #expect(pages == [true, true, false])
    }

    @Test func `pages that repeat the same entities reach the limit`() {
        var progress = PageProgress(limit: 10)
        let pages = (0..<1_000).prefix { progress.shouldContinue(after: ExactText("\($0 % 50)")) }
        #expect(pages.count == 59)
    }

    @Test func `a page with a new entity resets the count`() {
        var progress = PageProgress(limit: 2)
        let pages = (0..<100).map { progress.shouldContinue(after: $0 % 2 == 0 ? ExactText("\($0)") : nil) }
        #expect(pages.allSatisfy { $0 })
    }

    @Test func `the key or URL identifies an entity, not its values`() throws {
        let type = try #require(try TestStore().model.findEntitySet("Customers")?.entityType)
        let key = try #require(type.keyProperties.first?.name)
        func entity(_ number: Int64, _ name: String) -> DeltaItem {
            .entity(EntityPayload(values: [key: .integer(number), "Name": .string(name)]))
        }
        #expect(entity(1, "a").identity(type) == entity(1, "b").identity(type))
        #expect(entity(1, "a").identity(type) != entity(2, "a").identity(type))
        var addressed = EntityPayload(values: [:])
        addressed.id = "Customers(1)"
        var other = addressed
        other.id = "Customers(2)"
        #expect(DeltaItem.entity(addressed).identity(type) != DeltaItem.entity(other).identity(type))
    }
}
