import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Queries by URL: the same results from a store and from the service.
@Suite struct PathQueryTests {
    private func read(_ url: String, _ shop: Shop) async throws -> QueryResult {
        try await shop.service.executeQuery(DataQuery().withURL(url))
    }

    @Test(arguments: Client.all)
    func `a query with a URL and further options is refused, because they would have no effect`(
        _ client: Client
    ) async throws {
        let shop = try await Shop(client)
        await #expect {
            _ = try await shop.service.executeQuery(DataQuery().withURL("Orders").top(1))
        } throws: {
            ($0 as? TidelogError)?.code == .invalidRequest
        }
        let page = try await shop.service.executeQuery(DataQuery().withURL("Orders?$top=1"))
        #expect(page.entityList().count == 1)
    }

    @Test(arguments: Client.all)
    func `a path leads to the value of a property`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(try await read("Customers(1)/Name", shop).value == .string("Ada Lovelace"))
        #expect(try await read("Customers(1)/Orders(2)/Customer/Name", shop).value == .string("Ada Lovelace"))
        #expect(try await read("Customers(1)/Address/City", shop).value == .string("Genève"))
        #expect(try await read("Customers(3)/Rating", shop).value == .null)
    }

    @Test(arguments: Client.all)
    func `a path leads to a complex value`(_ client: Client) async throws {
        let shop = try await Shop(client)
        guard case .complex(let address)? = try await read("Customers(1)/Address", shop).value else {
            Issue.record("The address is not complex.")
            return
        }
        #expect(address.properties["Zip"] == .string("1204"))
    }

    @Test(arguments: Client.all.filter { $0.dialect == .v4 })
    func `a path leads to a collection of values`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let value = try await read("Customers(1)/Tags", shop).value
        #expect(value == .collection([.string("vip"), .string("math")]))
    }

    @Test(arguments: Client.all)
    func `the raw value $value returns the value of a property`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(try await read("Customers(1)/Address/City/$value", shop).value == .string("Genève"))
        #expect(try await read("Orders(1)/Quantity/$value", shop).value == .integer(3))
    }

    @Test(arguments: Client.all)
    func `the raw value $value of null is not found`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for url in ["Customers(3)/Rating/$value", "Customers(99)/Name", "Orders(4)/Customer/Name"] {
            try await shop.expectRefusal(.notFound) { _ = try await read(url, shop) }
        }
    }

    @Test(arguments: Client.all)
    func `a count ($count) returns a number, with and without a condition`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(try await read("Customers/$count", shop).value == .integer(3))
        #expect(try await read("Customers/$count", shop).count == 3)
        #expect(try await read("Customers(1)/Orders/$count?$filter=Quantity%20gt%205", shop).value == .integer(1))
    }

    @Test(arguments: Client.all)
    func `references have links and no values`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let isLegacy = client.dialect == .v2
        let many = try await read(isLegacy ? "Customers(1)/$links/Orders" : "Customers(1)/Orders/$ref", shop)
        #expect(many.entityList().map(\.readLink) == ["Orders(1)", "Orders(2)"])
        #expect(many.entityList().allSatisfy { $0.properties.isEmpty })
        let one = try await read(isLegacy ? "Orders(3)/$links/Customer" : "Orders(3)/Customer/$ref", shop)
        #expect(one.entityList().map(\.readLink) == ["Customers(2)"])
        let none = try await read(isLegacy ? "Orders(4)/$links/Customer" : "Orders(4)/Customer/$ref", shop)
        #expect(none.entityList().isEmpty)
    }

    @Test(arguments: Client.all)
    func `an entity that a reference names can be loaded`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let url = client.dialect == .v2 ? "Orders(3)/$links/Customer" : "Orders(3)/Customer/$ref"
        let customer = try #require(try await read(url, shop).optionalEntity())
        try await shop.service.loadEntity(customer)
        #expect(customer["Name"] == .string("Grace Hopper"))
    }

    @Test(arguments: Client.all)
    func `the path $metadata returns the metadata document`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(try await read("$metadata", shop).value?.stringValue?.contains("EntityContainer") == true)
    }

    @Test(arguments: Client.online)
    func `the service document is text`(_ client: Client) async throws {
        let shop = try await Shop(client)
        #expect(try await read("", shop).value?.stringValue?.contains("Customers") == true)
    }

    @Test(arguments: Client.online)
    func `the path $value of a media entity returns its bytes`(_ client: Client) async throws {
        let shop = try await Shop(client)
        guard case .binary(let bytes)? = try await read("Photos(1)/$value", shop).value else {
            Issue.record("The content is not binary.")
            return
        }
        #expect(bytes.starts(with: Array("GIF89a".utf8)))
    }

    @Test(arguments: Client.all.filter { $0.dialect == .v4 })
    func `a batch reads values and counts in one request`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let batch = RequestBatch()
        let urls = ["Customers/$count", "Customers(1)/Name/$value", "Customers(1)/Tags"]
        let numbers = urls.map { batch.addQuery(DataQuery().withURL($0)) }
        shop.transport.forgetRequests()
        try await shop.service.processBatch(batch)
        #expect(
            try numbers.map { try batch.queryResult($0).value } == [
                .integer(3), .string("Ada Lovelace"), .collection([.string("vip"), .string("math")]),
            ])
        #expect(shop.transport.requests.count == (client.isOnline ? 1 : 0))
    }

    @Test(arguments: Client.all)
    func `a path that no query can read is refused`(_ client: Client) async throws {
        let shop = try await Shop(client)
        for url in ["Nothing", "Customers(1)/Nothing"] {
            try await shop.expectRefusal(.invalidRequest) { _ = try await read(url, shop) }
        }
    }

    @Test(arguments: [Client(dialect: .v4, isOnline: true)])
    func `an action cannot be read, and the recovery names the call`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let error = await #expect(throws: TidelogError.self) { _ = try await read("CancelOrder", shop) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.recovery?.contains("invoke") == true)
    }
}
