import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// New entities in the collections of a new entity: one request, if the service's response identifies them.
///
/// Features: RC-16.
@Suite struct DeepInsertTests {
    struct Service: Sendable, CustomTestStringConvertible {
        let client: Client
        let option: ServiceOptions.DeepInsertToMany
        let answer: Capabilities.DeepInsertAnswer
        let repeatsContentIDs: Bool

        var testDescription: String {
            "\(client.dialect.rawValue.uppercased()) \(option), answered \(answer)"
                + (repeatsContentIDs ? ", Content-IDs repeated" : "")
        }

        static let all = Client.offline.flatMap { client in
            ServiceOptions.DeepInsertToMany.allCases.flatMap { option in
                Capabilities.DeepInsertAnswer.allCases.flatMap { answer in
                    (option == .contentID ? [true, false] : [false]).map {
                        Service(client: client, option: option, answer: answer, repeatsContentIDs: $0)
                    }
                }
            }
        }
    }

    private func shop(_ service: Service, hasBatch: Bool = true) async throws -> Shop {
        var capabilities = Capabilities()
        capabilities.deepInsertAnswer = service.answer
        capabilities.repeatsContentIDs = service.repeatsContentIDs
        capabilities.batch = hasBatch
        return try await Shop(
            service.client, capabilities: capabilities,
            options: ServiceOptions(supportsBatch: hasBatch, deepInsertToMany: service.option))
    }

    private func customer(_ shop: Shop, _ notes: [String]) throws -> (EntityValue, orders: [EntityValue]) {
        let customer = try shop.new("Customers", ["Name": .string("deep")])
        let orders = try notes.map { try shop.new("Orders", ["Note": .string($0)]) }
        try shop.property("Customers/Orders").setEntityList(in: customer, to: orders)
        return (customer, orders)
    }

    @Test(arguments: Service.all)
    func `each child of a deep insert gets its key and keeps its readLink, later edits and identity`(
        _ service: Service
    ) async throws {
        let shop = try await shop(service)
        let (customer, orders) = try customer(shop, ["a", "b", "c"])
        try await shop.service.createEntity(customer)
        // Changes and deletes children that have no key yet.
        orders[1]["Quantity"] = .integer(5)
        try await shop.service.updateEntity(orders[1])
        try await shop.service.deleteEntity(orders[2])
        let links = orders.map(\.readLink)
        try await shop.synchronize(answersTellAll: service.answer != .withoutBody)
        #expect(shop.serverLinks("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
        for (link, note) in zip(links.prefix(2), ["a", "b"]) {
            let again = EntityValue(try shop.set("Orders").entityType)
            again.readLink = link
            try await shop.service.loadEntity(again)
            #expect(again["Note"] == .string(note))
            #expect(again["Quantity"] == (note == "b" ? .integer(5) : .null))
        }
        let keys = try #require(try await shop.store?.keyMap())
        let new = keys.filter { $0.set == "Orders" && ["OrderID=5", "OrderID=6", "OrderID=7"].contains($0.key) }
        #expect(new.count == Set(new.map(\.entity)).count)
        #expect(new.count == Set(new.map(\.key)).count)
    }

    @Test(arguments: Service.all)
    func `children with equal values are neither lost nor duplicated`(_ service: Service) async throws {
        let shop = try await shop(service)
        let (customer, _) = try customer(shop, ["same", "same", "same"])
        try await shop.service.createEntity(customer)
        try await shop.synchronize(answersTellAll: service.answer != .withoutBody)
        #expect(try await shop.related(customer, "Orders").count == 3)
    }

    @Test(
        arguments: Service.all.filter { $0.option == .inOrder || ($0.option == .contentID && $0.client.dialect == .v4) }
    )
    func `without batches, a deep insert of a collection is one request`(_ service: Service) async throws {
        let shop = try await shop(service, hasBatch: false)
        let (customer, _) = try customer(shop, ["a", "b"])
        try await shop.service.createEntity(customer)
        shop.transport.forgetRequests()
        try await shop.store?.upload()
        let request = try #require(shop.transport.requests.first { $0.method == "POST" })
        #expect(request.url.hasSuffix("/Customers"))
        var body = String(decoding: request.body, as: UTF8.self)
        if service.option == .contentID {
            #expect(body.ranges(of: "\"@Core.ContentID\":").count == 2)
            for order in ["a", "b"] { #expect(body.contains("\"Note\":\"\(order)\"")) }
            body = body.replacing(/"@Core.ContentID":"[0-9]+",/, with: "")
        }
        #expect(body == #"{"Name":"deep","Orders":[{"Note":"a"},{"Note":"b"}]}"#)
        try await shop.synchronize(answersTellAll: service.answer != .withoutBody)
    }

    @Test(arguments: Service.all.filter { $0.option == .split }.prefix(1))
    func `without batches, a deep insert that must be split is held back, and the reason names the option that helps`(
        _ service: Service
    ) async throws {
        let shop = try await shop(service, hasBatch: false)
        let (customer, _) = try customer(shop, ["a", "b"])
        try await shop.service.createEntity(customer)
        let reason = try #require(try await shop.store?.operationStatus().first?.reason)
        #expect(
            reason
                == "held back: it needs 3 requests that must take effect together, and the service has no $batch; the service option deepInsertToMany allows new entities in a collection of the new entity above"
        )
    }

    @Test(arguments: Service.all)
    func `a deep insert may have several levels and bindings to existing entities`(_ service: Service) async throws {
        let shop = try await shop(service)
        let supplier = try shop.new("Suppliers", ["Name": .string("s")])
        let products = try ["p", "q"].map { try shop.new("Products", ["Name": .string($0)]) }
        let below = try shop.new("Suppliers", ["Name": .string("below")])
        try shop.property("Products/Suppliers").setEntityList(in: products[1], to: [below])
        supplier.bindEntity(try await shop.one("Products", 3), to: try shop.property("Suppliers/Products"))
        try shop.property("Suppliers/Products").setEntityList(in: supplier, to: products)
        try await shop.service.createEntity(supplier)
        try await shop.synchronize(answersTellAll: service.answer != .withoutBody)
        let text = shop.serverLinks("Suppliers")
        #expect(text.contains("Products: Products(3), Products(4), Products(5)\n"), "\(text)")
        #expect(text.contains("  Products: Products(5)\n"), "\(text)")
        let names = try await shop.related(supplier, "Products").compactMap { $0["Name"] }
        #expect(Set(names) == [.string("p"), .string("q"), .string("Nothing yet")])
    }

    @Test(arguments: Client.all)
    func `a cycle of new entities is refused with its path`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let (customer, orders) = try customer(shop, ["a"])
        try shop.property("Orders/Customer").setEntityValue(in: orders[0], to: customer)
        do {
            try await shop.service.createEntity(customer)
            Issue.record("The circle was taken.")
        } catch {
            #expect(error.code == .refused(.notAllowed))
            #expect(error.message == "The deep insert contains a cycle: Customers/Orders/Customer.")
        }
    }
}
