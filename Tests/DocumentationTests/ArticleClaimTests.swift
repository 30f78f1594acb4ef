import ODataSandbox
import ShopService
import TestSupport
import Testing
import Tidelog

/// Statements of the articles about generated classes that no other test covers.
@Suite struct ArticleClaimTests {
    private let directory = TemporaryDirectory()

    /// Returns a store with everything that the Shop has.
    private func shop(_ version: String) async throws -> (service: ShopService, provider: OfflineODataProvider) {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let provider = OfflineODataProvider(
            serviceRoot: "http://shop.test/\(version)/",
            parameters: OfflineODataParameters(
                storePath: directory.path, transport: SandboxTransport(sandbox), durability: .none))
        try await provider.open()
        for query in try await OfflineODataDefiningQuery.all(of: provider.model()) {
            try await provider.add(definingQuery: query)
        }
        try await provider.download()
        return (ShopService(provider: provider), provider)
    }

    private func expectAllConfirmed(_ provider: OfflineODataProvider) async throws {
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)")
        #expect(report.remaining == 0)
    }

    @Test func `a second customer with the default key is refused unless its key is unset`() async throws {
        // The defaults are those of the V4 metadata; in V2 customers have no tags.
        let (service, provider) = try await shop("v4")
        let first = Customer()
        first.name = "Ada"
        try await service.createEntity(first)
        let second = Customer()
        second.name = "Grace"
        await #expect {
            try await service.createEntity(second)
        } throws: {
            ($0 as? TidelogError)?.code == .refused(.duplicateKey)
        }
        second.unsetDataValue(for: Customer.customerID)
        try await service.createEntity(second)
        #expect(second.key == nil)
        try await expectAllConfirmed(provider)
    }

    @Test(arguments: ["v2", "v4"])
    func `an object is loaded by its first readLink`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let customer = Customer(withDefaults: false)
        customer.name = "Ada"
        try await service.createEntity(customer)
        try await expectAllConfirmed(provider)
        let again = Customer(withDefaults: false)
        again.readLink = customer.readLink
        try await service.loadEntity(again, DataQuery().expand(Customer.orders))
        #expect(again.customerID != nil)
        #expect(again.orders.isLoaded)
    }

    @Test(arguments: ["v2", "v4"])
    func `two cars exchange their owners with one put`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let cars = try await Array(service.fetchCars().prefix(2))
        let before = cars.map { $0.owner.target?.ownerID }
        let owner = cars[0].owner.target
        cars[0].owner.target = cars[1].owner.target
        cars[1].owner.target = owner
        try await service.box(for: Car.self).put(cars)
        try await expectAllConfirmed(provider)
        try await provider.download()
        let after = try await service.fetchCars().prefix(2).map { $0.owner.target?.ownerID }
        #expect(after == before.reversed())
    }

    @Test(arguments: ["v2", "v4"])
    func `an update that unlinks a child from its father is refused with a legal alternative`(_ version: String)
        async throws
    {
        let (service, _) = try await shop(version)
        let child = try #require(try await service.fetchChildren().first)
        child.father.target = nil
        await #expect {
            try await service.updateEntity(child)
        } throws: {
            let error = $0 as? TidelogError
            return error?.code == .refused(.mandatoryEnd) && error?.recovery != nil
        }
    }

    @Test(arguments: ["v2", "v4"])
    func `a father can be deleted with his children in one change set, and not alone`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let father = try await service.fetchFather(fatherID: 1)
        #expect(!father.children.isEmpty)
        await #expect(throws: TidelogError.self) { try await service.deleteEntity(father) }
        let changes = ChangeSet()
        for child in father.children { changes.deleteEntity(child) }
        changes.deleteEntity(father)
        try await service.applyChanges(changes)
        try await expectAllConfirmed(provider)
    }

    @Test(arguments: ["v2", "v4"])
    func `setting a foreign key creates a link`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let customer = try #require(try await service.fetchCustomers().first)
        let order = Order(withDefaults: false)
        order.customerID = customer.customerID
        try await service.createEntity(order)
        #expect(order.customer.target?.name == customer.name)
        #expect(customer.orders.contains { $0.entityID == order.entityID })
        try await expectAllConfirmed(provider)
    }

    @Test(arguments: ["v2", "v4"])
    func `a change of a value in an address is an update of the customer`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let customer = try #require(try await service.fetchCustomers().first)
        customer.address = Address()
        customer.address?.city = "London"
        try await service.updateEntity(customer)
        try await expectAllConfirmed(provider)
        try await provider.download()
        let found = try await service.fetchCustomers(matching: DataQuery().filter(Customer.address.city == "London"))
        #expect(found.map(\.customerID) == [customer.customerID])
    }

    @Test(arguments: ["v2", "v4"])
    func `a new link is visible from both ends`(_ version: String) async throws {
        let (service, provider) = try await shop(version)
        let supplier = Supplier(withDefaults: false)
        let product = Product(withDefaults: false)
        supplier.products.append(product)
        try await service.box(for: Supplier.self).put(supplier)
        #expect(product.suppliers.map(\.entityID) == [supplier.entityID])
        try await expectAllConfirmed(provider)
    }
}
