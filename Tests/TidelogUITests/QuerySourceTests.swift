import ShopService
import Testing
import Tidelog

@testable import TidelogUI

/// The part of the property wrapper that does not need SwiftUI.
@Suite(.timeLimit(.minutes(10))) @MainActor struct QuerySourceTests {
    @Test func `the same query of the same service is not started again`() async throws {
        let shop = try await Shop()
        let source = QuerySource<Order>()
        let query = DataQuery().filter(Order.total > 0)
        source.show(query, in: nil, of: shop.service)
        await changes { source.list.isLoaded }
        source.show(query, in: nil, of: shop.service)
        // A new start would reset the list at the next suspension of the main actor.
        await Task.yield()
        #expect(source.list.isLoaded)
    }

    @Test func `another query replaces the first`() async throws {
        let shop = try await Shop()
        let source = QuerySource<Order>()
        source.show(DataQuery().orderBy(Order.orderID).top(1), in: nil, of: shop.service)
        await changes { source.list.entities.count == 1 }
        source.show(DataQuery().orderBy(Order.orderID).top(2), in: nil, of: shop.service)
        await changes { source.list.entities.count == 2 }
    }

    @Test func `without a service the list is empty`() async throws {
        let source = QuerySource<Order>()
        source.show(DataQuery(), in: nil, of: nil)
        await Task.yield()
        #expect(source.list.entities.isEmpty)
        #expect(!source.list.isUpdating)
    }

    @Test func `a set that does not exist is an error of the list`() async throws {
        let shop = try await Shop()
        let source = QuerySource<Order>()
        source.show(DataQuery(), in: "Nothing", of: shop.service)
        await changes { source.list.error != nil }
        #expect(source.list.error?.code == .refused(.unknownEntitySet))
    }
}
