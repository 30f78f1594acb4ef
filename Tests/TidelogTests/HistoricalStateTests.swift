import Testing
import Tidelog

/// A store as of an earlier time, through the public API.
struct HistoricalStateTests {
    private static let offline = Client(dialect: .v4, isOnline: false)

    @Test func `a historical store is queried like a store and returns the content of that time`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let digest = try await store.stateDigest()
        let then = try await store.state(at: .sequence(.max))
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("new")]))
        let now = try await store.state(at: .sequence(.max))
        #expect(now.sequence == then.sequence + 1)
        #expect(try await then.stateDigest() == digest)
        #expect(try await store.state(at: .sequence(then.sequence)).stateDigest() == digest)
        #expect(try await now.stateDigest() == store.stateDigest())
        #expect(try await then.operationStatus().isEmpty)
        #expect(try await now.operationStatus().map(\.sequence) == [now.sequence])
        let service = DataService(provider: then)
        let customers = DataQuery().from(try shop.set("Customers"))
        #expect(try await service.executeQuery(customers).entityList().count == 3)
    }

    @Test func `changes of a historical store are refused`() async throws {
        let shop = try await Shop(Self.offline)
        let store = try #require(shop.store)
        let service = DataService(provider: try await store.state(at: .sequence(.max)))
        let error = await #expect(throws: TidelogError.self) {
            try await service.createEntity(try shop.new("Customers", ["Name": .string("new")]))
        }
        #expect(error?.code == .unsupported)
        #expect(try await !store.hasPendingUpload)
    }
}
