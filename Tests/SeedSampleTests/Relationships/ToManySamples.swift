import ShopService
import Testing
import Tidelog

/// OB-11: the sample for the removal from a to-many relation: set the to-one of each source to nil, and put the sources.
@Suite struct ToManySamples {
    @Test(arguments: Dialect.allCases)
    func `sample removal from a to-many relation: each order loses its customer, and the collection is empty`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let service = shop.service
        let customer = try await service.fetchCustomer(matching: DataQuery().top(1))
        let orders = Array(customer.orders)
        #expect(orders.count == 2)

        orders.forEach { $0.customer = nil }
        try await service.box(for: Order.self).put(orders)

        let again = try await service.fetchCustomer(matching: DataQuery().top(1))
        #expect(again.orders.isEmpty)
        for order in orders { try await shop.expectNowAndLater(order, belongsTo: nil) }
    }
}
