import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Changes of a result since it was read, which services with change tracking return.
@Suite struct OnlineDeltaTests {
    private func shop() async throws -> Shop {
        let shop = try await Shop(Client(dialect: .v4, isOnline: true))
        shop.transport.change { $0.options.deltas = Deltas() }
        return shop
    }

    @Test func `a delta query returns the entities that were added, changed and removed`() async throws {
        let shop = try await shop()
        let first = try await shop.service.executeQuery(DataQuery().from(try shop.set("Customers")).trackChanges())
        #expect(first.entityList().count == 3)
        shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Name":"Ada"}"#)
        shop.transport.direct("POST", "/v4/Customers", #"{"Name":"new"}"#)
        shop.transport.direct("DELETE", "/v4/Customers(3)")
        let delta = try await shop.service.executeQuery(try #require(first.deltaQuery))
        #expect(Set(delta.entityList().map(\.readLink)) == ["Customers(1)", "Customers(4)"])
        #expect(delta.removedLinks == ["Customers(3)"])
        let second = try await shop.service.executeQuery(try #require(delta.deltaQuery))
        #expect(second.entityList().isEmpty)
        #expect(second.removedLinks.isEmpty)
    }

    @Test func `the link for changes is in the last page`() async throws {
        let shop = try await shop()
        let query = DataQuery().from(try shop.set("Orders")).trackChanges().pageSize(3)
        let first = try await shop.service.executeQuery(query)
        #expect(first.deltaQuery == nil)
        let last = try await shop.service.executeQuery(try #require(first.nextQuery).pageSize(3))
        #expect(last.deltaQuery != nil)
    }

    @Test func `without the request no changes are tracked`() async throws {
        let shop = try await shop()
        let result = try await shop.service.executeQuery(DataQuery().from(try shop.set("Orders")))
        #expect(result.deltaQuery == nil)
    }

    @Test(arguments: Client.offline)
    func `a store returns no delta`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let result = try await shop.service.executeQuery(DataQuery().from(try shop.set("Orders")).trackChanges())
        #expect(result.deltaQuery == nil)
        #expect(result.removedLinks.isEmpty)
    }
}
