import ODataSandbox
import ShopService
import TestSupport
import Testing
import Tidelog

/// Customers and orders, owners and cars: the model of the guide to relationships.
struct Shop {
    private let sample: SampleService<ShopService>
    var service: ShopService { sample.service }
    var provider: OfflineODataProvider { sample.provider }

    init(_ dialect: Dialect) async throws {
        sample = try await SampleService(try Sandbox.shop(), dialect) { ShopService(provider: $0) }
    }

    /// Expects that the current state of the store contains the link from both ends.
    func expect(
        _ order: Order, belongsTo customer: Customer?, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let found = try await sample.related(order, Order.customer).map(\.entityID)
        #expect(found == (customer.map { [$0.entityID] } ?? []), sourceLocation: location)
        guard let customer else { return }
        let orders = try await sample.related(customer, Customer.orders).map(\.entityID)
        #expect(orders.contains(order.entityID), sourceLocation: location)
    }

    func expect(_ car: Car, belongsTo owner: Owner, _ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await sample.related(car, Car.owner).map(\.entityID) == [owner.entityID], sourceLocation: location)
        #expect(try await sample.related(owner, Owner.car).map(\.entityID) == [car.entityID], sourceLocation: location)
    }

    /// Expects the link at once, and, after an upload and a download, in the store and at the service.
    func expectNowAndLater(
        _ order: Order, belongsTo customer: Customer?, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await expect(order, belongsTo: customer, location)
        try await sample.synchronize(location)
        try await expect(order, belongsTo: customer, location)
        let keys = try await sample.keysOnServer(order, Order.customer)
        var expected: [KeyPredicate] = []
        if let customer {
            let current = Customer(withDefaults: false)
            current.readLink = customer.readLink
            try await service.loadEntity(current)
            expected = [try #require(current.key, sourceLocation: location)]
        }
        #expect(keys == expected, sourceLocation: location)
    }

    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        try await sample.synchronize(location)
    }

    var serverLinks: String { sample.transport.sandbox.stateText(of: ["Cars"], values: false) }
}

extension Order {
    /// Returns a copy without the key, as the samples intend, and without the constraint property, which would bind the
    /// copy to the customer of the original.
    func copyWithoutCustomer() -> Order {
        let copy = self.copyWithoutKey()
        copy.unsetDataValue(for: Order.customerID)
        return copy
    }
}
