import EDM
import Operations
import SyncCore
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// The values of updates in doubt that later operations in doubt replace.
struct OverwrittenValuesTests {
    private let order = EntityID(rawValue: 1)

    private func pending(_ sequence: SequenceNumber, _ action: Operation.Action) -> PendingOperation {
        PendingOperation(sequence: sequence, time: 0, operation: Operation(action), status: .pending)
    }

    private func update(
        _ sequence: SequenceNumber, _ changes: PropertyValues, of entity: EntityID? = nil
    ) -> PendingOperation {
        pending(sequence, .update(entity ?? order, changes: changes, bindings: []))
    }

    @Test func `only later updates of the same entity replace values, and add none`() throws {
        let first = update(1, ["Note": .string("a"), "CustomerID": .integer(1)])
        let others = [
            first, update(2, ["Note": .string("b")]), update(3, ["Note": .string("c"), "Total": .integer(5)]),
            update(4, ["Note": .string("d")], of: EntityID(rawValue: 2)),
        ]
        let last = try #require(first.withValuesOverwritten(by: others))
        #expect(
            last.operation.action
                == .update(order, changes: ["Note": .string("c"), "CustomerID": .integer(1)], bindings: []))
        #expect(others[2].withValuesOverwritten(by: others) == nil)
        #expect(others[3].withValuesOverwritten(by: others) == nil)
    }

    @Test func `an operation overwrites a later update if it sets the same property, directly or by its link`()
        async throws
    {
        let type = try #require(try await Shop(.v4).store.model.findEntityType("Shop.Order"))
        let target = EntityID(rawValue: 2)
        let link = pending(1, .updateLink(Link(from: order, navigation: "Customer", to: target)))
        #expect(link.overwrites(update(2, ["CustomerID": .integer(1)]), of: type))
        #expect(!link.overwrites(update(2, ["Note": .string("a")]), of: type))
        #expect(!link.overwrites(update(2, ["CustomerID": .integer(1)], of: EntityID(rawValue: 3)), of: type))
        let first = update(1, ["Note": .string("a")])
        #expect(first.overwrites(update(2, ["Note": .string("b")]), of: type))
        #expect(!first.overwrites(update(2, ["CustomerID": .integer(1)]), of: type))
        #expect(!update(3, ["Note": .string("a")]).overwrites(update(2, ["Note": .string("b")]), of: type))
    }
}
