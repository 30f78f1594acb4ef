import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct UpdateTests {
    @Test(arguments: Dialect.allCases)
    func `an update changes only the properties that it contains`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.update("Customers(1)", #"{"Name":"Ada King","CustomerID":9}"#).status == 204)
        #expect(
            shop.state("Customers").hasPrefix(
                "Customers(1) {CustomerID: 1, Name: 'Ada King', Address: {Street: 'Rue du Port 5'"))
    }

    @Test(arguments: Dialect.allCases)
    func `a replacement resets the properties that it omits, but no links`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.send("PUT", "Orders(1)", #"{"Note":"new"}"#, headers: ["If-Match": "*"]).status == 204)
        #expect(shop.state("Orders").hasPrefix("Orders(1) {OrderID: 1, CustomerID: 1, Note: 'new', Amount: null,"))
        #expect(shop.send("PUT", "Customers(1)", #"{"Rating":null}"#).errorCode == "NullNotAllowed")
    }

    @Test(arguments: Dialect.allCases)
    func `an update through a navigation property changes the related entity`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.update("Orders(1)/Customer", #"{"Name":"By way of the order"}"#).status == 204)
        #expect(shop.state("Customers").hasPrefix("Customers(1) {CustomerID: 1, Name: 'By way of the order'"))
        #expect(shop.update("Orders(4)/Customer", #"{"Name":"nobody"}"#).status == 404)
    }

    @Test(arguments: Dialect.allCases)
    func `an update with a deep insert is refused`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.update("Customers(1)", #"{"Orders":[{"Note":"n"}]}"#).status == 400)
    }

    @Test func `V4 binds add to a collection and null unlinks a single end`() throws {
        var shop = try Shop(.v4)
        #expect(shop.update("Customers(3)", #"{"Orders@odata.bind":["Orders(4)"]}"#).status == 204)
        #expect(shop.update("Customers(3)", #"{"Orders@odata.bind":["Orders(3)"]}"#).status == 204)
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(3), Orders(4)\n"))
        #expect(shop.update("Orders(4)", #"{"Customer@odata.bind":null}"#).status == 204)
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(3)\n"))
    }

    @Test func `V4 returns the updated entity if the client prefers it`() throws {
        var shop = try Shop(.v4)
        let response = shop.send(
            "PATCH", "Customers(1)", #"{"Tags":["new"]}"#, headers: ["Prefer": "return=representation"])
        #expect(response.status == 200)
        #expect(try response.json()["Tags"]?.array?.compactMap(\.string) == ["new"])
        #expect(response.headers["Preference-Applied"] == "return=representation")
    }

    @Test func `V4 refuses MERGE`() throws {
        var shop = try Shop(.v4)
        #expect(shop.send("MERGE", "Customers(1)", #"{"Name":"n"}"#).status == 405)
    }

    @Test func `V4 removes a member of a collection by the reference of 4.01`() throws {
        var shop = try Shop(.v4)
        #expect(shop.send("DELETE", "Customers(1)/Orders(2)/$ref").status == 204)
        #expect(shop.links("Customers").hasPrefix("Customers(1)\n  Orders: Orders(1)\n"))
        #expect(shop.send("DELETE", "Orders(1)/Customer/$ref?$id=Customers(1)").status == 400)
    }

    @Test func `V2 reads the method from X-HTTP-Method`() throws {
        var shop = try Shop(.v2)
        let merge = shop.send(
            "POST", "Customers(1)", #"{"Name":"tunnelled"}"#, headers: ["X-HTTP-Method": "MERGE"])
        #expect(merge.status == 204)
        #expect(shop.state("Customers").contains("Name: 'tunnelled', Address: {"))
        #expect(shop.send("POST", "Orders(4)", headers: ["X-HTTP-Method": "DELETE", "If-Match": "*"]).status == 204)
    }

    @Test func `V2 reads values in the V2 format`() throws {
        var shop = try Shop(.v2)
        let body = #"{"Amount":"12.3400","Total":"9007199254740993","PlacedAt":"/Date(0+0120)/"}"#
        let response = shop.update("Orders(1)", body)
        #expect(response.status == 204, "\(response.text)")
        #expect(
            shop.state("Orders").contains(
                "Amount: 12.3400, Quantity: 3, Total: 9007199254740993, PlacedAt: 1970-01-01T02:00:00"))
        #expect(shop.update("Customers(3)", #"{"Since":"/Date(1551398400000)/"}"#).status == 204)
        #expect(shop.state("Customers").contains("Rating: null, Since: 2019-03-01"))
    }

    @Test(arguments: Dialect.allCases)
    func `links accept only the methods of their end`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let single = dialect == .v2 ? "Orders(1)/$links/Customer" : "Orders(1)/Customer/$ref"
        let many = dialect == .v2 ? "Customers(1)/$links/Orders" : "Customers(1)/Orders/$ref"
        let body = dialect == .v2 ? #"{"uri":"Customers(2)"}"# : #"{"@odata.id":"Customers(2)"}"#
        #expect(shop.send("POST", single, body).status == 405)
        #expect(shop.send("PUT", many, body).status == 405)
        #expect(shop.send("POST", many, body).errorCode == "TypeMismatch")
        #expect(shop.send("PUT", single, "{}").status == 400)
        #expect(shop.link("Orders(1)", "Customer", "Customers(99)").status == 404)
        #expect(shop.send("POST", "Customers(1)", "{}").status == 405)
    }
}
