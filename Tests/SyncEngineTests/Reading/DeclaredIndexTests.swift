import Operations
import SyncCore
import Views
import Testing
@testable import OfflineStore

struct DeclaredIndexTests {
    private func searches(_ store: LocalStore, _ query: String) async throws -> Bool {
        try await store.explain(query).statements.contains { $0.plan.contains { $0.hasPrefix("SEARCH t0 USING") } }
    }

    @Test func `a property that a defining query compares has an index as long as the query exists`() async throws {
        let shop = try await Shop(.v4)
        #expect(try await !searches(shop.store, "Orders?$filter=Quantity eq 3"))
        try await shop.store.definingQueries.add(DefiningQuery(name: "Some", query: "Orders?$filter=Quantity eq 3"))
        #expect(try await searches(shop.store, "Orders?$filter=Quantity eq 1"))
        try await shop.store.definingQueries.remove("Some")
        #expect(try await !searches(shop.store, "Orders?$filter=Quantity eq 1"))
    }

    @Test
    func `a declared index exists after the store is opened, and is dropped when it is opened without the declaration`()
        async throws
    {
        let shop = try await Shop(.v4)
        await shop.store.close()
        let files = shop.store.files
        let declared = LocalStoreOptions(indexes: [EntityIndex("Orders", .ascending("Quantity"))])
        var store = try await LocalStore(files, options: declared)
        #expect(try await searches(store, "Orders?$filter=Quantity eq 1"))
        try await store.record([.serviceInstalled(try #require(try await store.service))])
        #expect(try await searches(store, "Orders?$filter=Quantity eq 1"))
        await store.close()
        store = try await LocalStore(files)
        #expect(try await !searches(store, "Orders?$filter=Quantity eq 1"))
        await store.close()
    }

    @Test(arguments: [
        EntityIndex("Nowhere", .ascending("Name")), EntityIndex("Orders", .ascending("Nothing")),
        EntityIndex("Orders", .ascending("Customer")), EntityIndex("Orders", []),
    ])
    func `a declared index on an unknown set or property is refused by its name`(_ index: EntityIndex) async throws {
        let shop = try await Shop(.v4)
        await shop.store.close()
        let error = await #expect(throws: TidelogError.self) {
            _ = try await LocalStore(shop.store.files, options: LocalStoreOptions(indexes: [index]))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains(index.description) == true)
        // The declaration is invalid, not the store.
        let again = try await LocalStore(shop.store.files)
        await again.close()
    }
}
