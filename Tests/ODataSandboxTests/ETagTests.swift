import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct ETagTests {
    @Test(arguments: Dialect.allCases)
    func `a change of an order needs its ETag`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let body = #"{"Note":"changed"}"#
        let missing = shop.send(shop.updateMethod, "Orders(1)", body)
        #expect(missing.status == (dialect == .v2 ? 412 : 428))
        #expect(shop.send("DELETE", "Orders(1)").status == (dialect == .v2 ? 412 : 428))
        #expect(shop.send(shop.updateMethod, "Orders(1)", body, headers: ["If-Match": "W/\"9\""]).status == 412)
        #expect(shop.state("Orders").contains("changed") == false)
        let right = shop.send(shop.updateMethod, "Orders(1)", body, headers: ["If-Match": "W/\"0\", W/\"1\""])
        #expect(right.status == 204, "\(right.text)")
        #expect(right.headers["ETag"] == "W/\"2\"")
        #expect(shop.state("Orders").contains("changed"))
    }

    @Test(arguments: Dialect.allCases)
    func `an ETag changes with the links, and link changes need no ETag`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.get("Orders(4)").headers["ETag"] == "W/\"1\"")
        #expect(shop.link("Customers(1)", "Orders", "Orders(4)").status == 204)
        #expect(shop.get("Orders(4)").headers["ETag"] == "W/\"2\"")
        #expect(shop.delete("Customers(1)").status == 204)
        #expect(shop.get("Orders(4)").headers["ETag"] == "W/\"3\"")
    }

    @Test(arguments: Dialect.allCases)
    func `an unchanged order is not returned again`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.get("Orders(1)", headers: ["If-None-Match": "W/\"1\""]).status == 304)
        #expect(shop.get("Orders(1)", headers: ["If-None-Match": "W/\"2\""]).status == 200)
    }

    @Test(arguments: Dialect.allCases)
    func `in a change set the ETag before the change set is valid`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let messages: [Shop.Message] = [
            (shop.updateMethod, "Orders(1)", #"{"Note":"once"}"#), (shop.updateMethod, "Orders(1)", #"{"Quantity":9}"#),
        ]
        let response = try shop.changeSet(messages, headers: ["If-Match": "W/\"1\""])
        #expect(response.statuses == "[204, 204]")
        #expect(shop.get("Orders(1)").headers["ETag"] == "W/\"2\"")
    }

    @Test(arguments: Dialect.allCases)
    func `the payload carries the ETag`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let order = try shop.get("Orders(1)").json()
        #expect((order["@odata.etag"] ?? order["__metadata"]?["etag"])?.string == "W/\"1\"")
        let customer = try shop.get("Customers(1)").json()
        #expect(customer["@odata.etag"] == nil && customer["__metadata"]?["etag"] == nil)
    }
}
