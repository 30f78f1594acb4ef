import EDM
import ODataSandbox
import ODataWire
import Testing

/// The deltas of the sandbox.
@Suite struct DeltaTests {
    private static let tracking = ["Prefer": "odata.track-changes"]

    private func shop(_ dialect: Dialect = .v4, _ form: DeltaForm = .flat) throws -> Shop {
        var shop = try Shop(dialect)
        shop.sandbox.options.deltas = Deltas(form)
        return shop
    }

    private func deltaLink(_ response: WireResponse) throws -> String {
        let json = try response.json()
        let link = try #require(json["@odata.deltaLink"]?.string ?? json["__delta"]?.string)
        return String(link.dropFirst("http://shop.test/v4/".count))
    }

    private func items(_ shop: inout Shop, _ link: String) throws -> [JSONValue] {
        let json = try shop.get(link).json()
        return try #require((json["value"] ?? json["results"])?.array)
    }

    @Test func `a delta link is returned on request, at the end of the last page`() throws {
        var shop = try shop()
        #expect(try shop.get("Customers").json()["@odata.deltaLink"] == nil)
        let response = shop.get("Customers", headers: Self.tracking)
        #expect(response.headers["Preference-Applied"] == "odata.track-changes")
        #expect(try items(&shop, deltaLink(response)).isEmpty)
        shop.sandbox.options.pageSize = 2
        let first = try shop.get("Customers", headers: Self.tracking).json()
        #expect(first["@odata.deltaLink"] == nil)
        let next = try #require(first["@odata.nextLink"]?.string?.dropFirst(shop.root.count))
        #expect(try items(&shop, deltaLink(shop.get(String(next)))).isEmpty)
        // A result with `$top` has no delta link, because the entities in it can change.
        #expect(try shop.get("Customers?$top=1", headers: Self.tracking).json()["@odata.deltaLink"] == nil)
    }

    @Test func `a 4.0 delta lists removed entities and links separately`() throws {
        var shop = try shop()
        let link = try deltaLink(shop.get("Suppliers?$expand=Products", headers: Self.tracking))
        shop.delete("Suppliers(2)")
        shop.send("DELETE", "Suppliers(1)/Products(1)/$ref")
        let items = try items(&shop, link)
        let removed = items.filter { $0["@odata.context"]?.string == "#Suppliers/$deletedEntity" }
        #expect(removed.map { $0["reason"]?.string } == ["deleted"])
        #expect(
            items.contains {
                $0["@odata.context"]?.string == "#Suppliers/$deletedLink"
                    && $0["target"]?.string == shop.root + "Products(1)"
            })
    }

    @Test func `a 4.01 delta nests removed entities and links in their parents`() throws {
        var shop = try shop(.v4, .nested)
        let link = try deltaLink(shop.get("Suppliers?$expand=Products", headers: Self.tracking))
        shop.delete("Suppliers(2)")
        shop.send("DELETE", "Suppliers(1)/Products(1)/$ref")
        let items = try items(&shop, link)
        #expect(items.first?["@removed"]?["reason"]?.string == "deleted")
        let changes = items.compactMap { $0["Products@delta"]?.array }.first
        #expect(changes?.first?["@removed"]?["reason"]?.string == "changed")
        #expect(changes?.first?["@id"]?.string == shop.root + "Products(1)")
    }

    /// Sends a request with a reference to a product as its body.
    private func reference(_ product: Int, _ method: String, _ shop: inout Shop) {
        let answer =
            method == "DELETE"
            ? shop.send(method, "Suppliers(1)/Products(\(product))/$ref")
            : shop.send(
                method, "Suppliers(1)/Products/$ref", #"{"@odata.id":"\#(shop.root)Products(\#(product))"}"#)
        #expect(answer.status == 204)
    }

    @Test func `a 4.0 delta contains links that were changed and are now as they were`() throws {
        var shop = try shop()
        let link = try deltaLink(shop.get("Suppliers?$expand=Products", headers: Self.tracking))
        reference(1, "DELETE", &shop)
        reference(1, "POST", &shop)
        reference(3, "POST", &shop)
        reference(3, "DELETE", &shop)
        let links = try items(&shop, link).filter { $0["target"] != nil }
        let changes = links.map { "\($0["@odata.context"]?.string ?? "") \($0["target"]?.string ?? "")" }
        #expect(
            changes == [
                "#Suppliers/$deletedLink \(shop.root)Products(3)", "#Suppliers/$link \(shop.root)Products(1)",
            ])
        let next = try deltaLink(shop.get(link))
        #expect(try items(&shop, next).isEmpty)
    }

    @Test func `a 4.01 delta contains links that were changed and are now as they were`() throws {
        var shop = try shop(.v4, .nested)
        let link = try deltaLink(shop.get("Suppliers?$expand=Products", headers: Self.tracking))
        reference(1, "DELETE", &shop)
        reference(1, "POST", &shop)
        reference(3, "POST", &shop)
        reference(3, "DELETE", &shop)
        let changes = try items(&shop, link).compactMap { $0["Products@delta"]?.array }.first ?? []
        #expect(changes.count == 2)
        #expect(changes.first?["@id"]?.string == shop.root + "Products(3)")
        #expect(changes.first?["@removed"]?["reason"]?.string == "changed")
        #expect(changes.last?["ProductID"]?.integer == 1)
    }

    @Test(arguments: Dialect.allCases)
    func `a delta contains an entity that was changed and is now as it was`(_ dialect: Dialect) throws {
        var shop = try shop(dialect)
        let link = try deltaLink(shop.get("Products", headers: Self.tracking))
        shop.update("Products(1)", #"{"Name":"Hammer"}"#)
        shop.update("Products(1)", #"{"Name":"Anvil"}"#)
        #expect(try items(&shop, link).map { $0["ProductID"]?.integer } == [1])
    }

    @Test(arguments: Dialect.allCases) func `an entity that leaves the filter is removed`(_ dialect: Dialect) throws {
        var shop = try shop(dialect)
        let link = try deltaLink(shop.get("Orders?$filter=Quantity%20gt%202", headers: Self.tracking))
        shop.update("Orders(1)", #"{"Quantity":1}"#)
        shop.update("Orders(4)", #"{"Quantity":7}"#)
        let items = try items(&shop, link)
        #expect(items.count == 2)
        #expect(items[0]["id"]?.string == shop.root + "Orders(1)")
        #expect(items[1]["OrderID"]?.integer == 4)
        if dialect == .v4 { #expect(items[0]["reason"]?.string == "changed") }
    }

    @Test func `the pages of a delta show the state at the time of the first request`() throws {
        var shop = try shop()
        let link = try deltaLink(shop.get("Customers", headers: Self.tracking))
        for key in 1...3 { shop.update("Customers(\(key))", #"{"Name":"x"}"#) }
        shop.sandbox.options.pageSize = 2
        let first = try shop.get(link).json()
        #expect(first["value"]?.array?.count == 2)
        #expect(first["@odata.context"]?.string == shop.root + "$metadata#Customers/$delta")
        shop.update("Customers(3)", #"{"Name":"later"}"#)
        let next = try #require(first["@odata.nextLink"]?.string?.dropFirst(shop.root.count))
        let second = shop.get(String(next))
        #expect(try second.json()["value"]?.array?.map { $0["Name"]?.string } == ["x"])
        #expect(try items(&shop, deltaLink(second)).map { $0["Name"]?.string } == ["later"])
    }

    @Test func `an expired delta token fails with 410, and an invalid one is refused`() throws {
        var shop = try shop()
        shop.sandbox.options.deltas?.limit = 1
        let link = try deltaLink(shop.get("Customers", headers: Self.tracking))
        _ = shop.get("Customers", headers: Self.tracking)
        #expect(shop.get(link).status == 410)
        for token in ["x", "1-2", "1-2-3-0", "1-2--3-4", "99999999999999999999"] {
            #expect(shop.get("Customers?$deltatoken=\(token)").status >= 400)
        }
    }
}
