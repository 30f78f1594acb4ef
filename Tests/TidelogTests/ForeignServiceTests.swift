import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Services that lack capabilities that the plan assumes, or do not roll back rejected change sets, without a
/// configuration of the store.
@Suite struct ForeignServiceTests {
    private func shop(
        _ client: Client, _ options: ServiceOptions? = nil, _ change: (inout Capabilities) -> Void
    ) async throws -> Shop {
        var capabilities = Capabilities()
        change(&capabilities)
        return try await Shop(client, capabilities: capabilities, options: options)
    }

    private func store(_ shop: Shop) throws -> OfflineODataProvider { try #require(shop.store) }

    /// Creates a pair that can be linked only in a body within one change set, an order of a new customer, and two new
    /// entities that are linked by collections.
    private func makePairs(_ shop: Shop) async throws {
        let service = shop.service
        let person = try shop.new("Persons", ["Name": .string("p")])
        try await service.createEntity(person)
        let card = try shop.new("IDCards", ["Number": .string("n")])
        try await service.createEntity(card)
        try await service.createLink(from: person, property: try shop.property("Persons/IDCard"), to: card)
        let customer = try shop.new("Customers", ["Name": .string("c")])
        try await service.createEntity(customer)
        let order = try shop.new("Orders", ["Note": .string("o")])
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await service.createEntity(order)
        let supplier = try shop.new("Suppliers", ["Name": .string("s")])
        try await service.createEntity(supplier)
        let product = try shop.new("Products", ["Name": .string("q")])
        product.bindEntity(supplier, to: try shop.property("Products/Suppliers"))
        try await service.createEntity(product)
    }

    private func expectPairs(_ shop: Shop) {
        #expect(shop.serverLinks("Persons").hasSuffix("Persons(3)\n  IDCard: IDCards(3)\n"))
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
        #expect(shop.serverLinks("Suppliers").hasSuffix("Suppliers(3)\n  Products: Products(4)\n"))
    }

    @Test func `a V2 store refers to new entities only in URLs`() async throws {
        let shop = try await shop(Client(dialect: .v2, isOnline: false)) { $0.contentIDReferences = .urlsOnly }
        try await makePairs(shop)
        shop.transport.forgetRequests()
        try await shop.synchronize()
        expectPairs(shop)
        let bodies = shop.transport.requests.map { String(decoding: $0.body, as: UTF8.self) }.joined()
        #expect(bodies.contains("POST $"))
        #expect(!bodies.contains(#":"$"#))
        #expect(try await store(shop).serviceOptions.contentIDReferences == .urlsPreferred)
    }

    @Test func `one upload detects a V4 service without references in bodies, and the store remembers it`()
        async throws
    {
        let shop = try await shop(Client(dialect: .v4, isOnline: false)) { $0.contentIDReferences = .urlsOnly }
        #expect(try await store(shop).serviceOptions.contentIDReferences == .urlsAndBodies)
        try await makePairs(shop)
        try await shop.synchronize()
        expectPairs(shop)
        #expect(try await store(shop).serviceOptions.contentIDReferences == .urlsOnly)
        // The capability is also used after the store is opened again.
        try await store(shop).close()
        try await store(shop).open()
        #expect(try await store(shop).serviceOptions.contentIDReferences == .urlsOnly)
        shop.transport.forgetRequests()
        let person = try shop.new("Persons", ["Name": .string("again")])
        try await shop.service.createEntity(person)
        let card = try shop.new("IDCards", ["Number": .string("again")])
        card.bindEntity(person, to: try shop.property("IDCards/Person"))
        try await shop.service.createEntity(card)
        try await shop.synchronize()
        #expect(!shop.transport.requests.contains { String(decoding: $0.body, as: UTF8.self).contains(#":"$"#) })
        try await store(shop).keep(nil)
        #expect(try await store(shop).serviceOptions.contentIDReferences == .urlsAndBodies)
    }

    @Test(arguments: Client.offline)
    func `a service without references is detected if its error names the reference`(
        _ client: Client
    ) async throws {
        let shop = try await shop(client) { $0.contentIDReferences = .none }
        try await makePairs(shop)
        try await shop.synchronize()
        expectPairs(shop)
        #expect(try await store(shop).serviceOptions.contentIDReferences == .none)
    }

    @Test(arguments: Client.offline)
    func `a rejection that does not concern references changes no capability`(
        _ client: Client
    ) async throws {
        let shop = try await shop(client) { _ in }
        let options = try await store(shop).serviceOptions
        try await makePairs(shop)
        shop.transport.add(Fault(.refuse(status: 400), times: 9, method: "POST", urlPart: "IDCards", part: .any))
        let report = try await store(shop).upload()
        #expect(report.rejected.map(\.refusal.code).allSatisfy { $0 == "InjectedFault" } && !report.rejected.isEmpty)
        #expect(try await store(shop).serviceOptions == options)
        shop.transport.change { $0.faults = [] }
        try await shop.synchronize()
        #expect(shop.serverLinks("Persons").hasSuffix("Persons(3)\n  IDCard: IDCards(3)\n"))
    }

    // MARK: Change sets that are not rolled back

    /// Creates two entities in one change set. The app assigns the key of the visit, the service that of the supplier.
    private func makeTogether(_ shop: Shop, _ first: String, _ second: String) async throws {
        let changes = ChangeSet()
        let id = GuidValue(high: 9, low: 9)
        let values: [String: [String: Value]] = [
            "Visits": ["VisitID": .guid(id), "Subject": .string("once")], "Suppliers": ["Name": .string("once")],
        ]
        for name in [first, second] { changes.createEntity(try shop.new(name, values[name] ?? [:])) }
        try await shop.service.applyChanges(changes)
        shop.transport.add(Fault(.refuse(status: 400), method: "POST", urlPart: second, part: .any))
    }

    private func count(_ shop: Shop, _ set: String) -> Int {
        shop.transport.sandbox.stateText(of: [set]).split(separator: "\n").count { $0.contains("once") }
    }

    @Test(arguments: Client.offline)
    func `an entity that a rejected change set has left is found by its key and not created twice`(_ client: Client)
        async throws
    {
        let shop = try await shop(client) { $0.rollsBackChangeSets = false }
        try await makeTogether(shop, "Visits", "Suppliers")
        let report = try await store(shop).upload()
        #expect(report.confirmed.count == 1)
        #expect(report.rejected.count == 1)
        #expect(try await store(shop).serviceOptions.changeSetRollback == .absent)
        try await shop.synchronize()
        #expect(count(shop, "Visits") == 1)
        #expect(count(shop, "Suppliers") == 1)
    }

    @Test(arguments: Client.offline)
    func `a create that a rejected change set may have left waits and is not sent twice`(_ client: Client) async throws
    {
        let shop = try await shop(client) { $0.rollsBackChangeSets = false }
        try await makeTogether(shop, "Suppliers", "Visits")
        let first = try await store(shop).upload()
        #expect(first.inDoubt.count + first.confirmed.count == 1)
        _ = try await store(shop).upload()
        #expect(count(shop, "Suppliers") == 1)
        let open = try await store(shop).operationStatus()
        for doubtful in open where doubtful.state == .inDoubt {
            #expect(doubtful.reason?.contains("may have kept") == true, "\(doubtful)")
            try await store(shop).settle(operation: doubtful.sequence, as: .tookEffect, at: "Suppliers(3)")
        }
        // The visit was rejected, and waited for the supplier of its change set.
        try await shop.synchronize()
        #expect(count(shop, "Suppliers") == 1)
        #expect(count(shop, "Visits") == 1)
    }

    @Test(arguments: Client.offline)
    func `the operations of a rejected change set that was rolled back are sent again`(_ client: Client) async throws {
        for sets in [("Suppliers", "Visits"), ("Visits", "Suppliers")] {
            let shop = try await shop(client) { _ in }
            try await makeTogether(shop, sets.0, sets.1)
            let report = try await store(shop).upload()
            #expect(report.inDoubt.isEmpty)
            #expect(count(shop, "Suppliers") + count(shop, "Visits") == 0)
            #expect(try await store(shop).serviceOptions.changeSetRollback == .verified)
            try await shop.synchronize()
            #expect(count(shop, "Suppliers") == 1)
            #expect(count(shop, "Visits") == 1)
        }
    }
}
