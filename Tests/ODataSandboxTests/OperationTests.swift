import EDM
import ODataSandbox
import ODataWire
import Testing

/// The functions and actions of the Shop.
@Suite struct OperationTests {
    private func text(_ response: WireResponse) -> String { String(decoding: response.body, as: UTF8.self) }

    @Test func `V4 calls a function with its parameters in parentheses`() throws {
        var shop = try Shop(.v4)
        let response = shop.get("Turnover(customer=2)")
        #expect(
            text(response)
                == #"{"@odata.context":"http://shop.test/v4/$metadata#Edm.Int64","value":9007199254740993}"#)
    }

    @Test func `V2 calls a function with its parameters as options`() throws {
        var shop = try Shop(.v2)
        #expect(text(shop.get("Turnover?customer=2")) == #"{"d":{"Turnover":"9007199254740993"}}"#)
    }

    @Test func `a parameter alias is replaced by its value`() throws {
        var shop = try Shop(.v4)
        #expect(text(shop.get("Turnover(customer=@c)?@c=1")).hasSuffix(#""value":4851}"#))
    }

    @Test func `the entities of a function are returned in pages with the selected properties`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.options.pageSize = 1
        let first = text(shop.get("TopCustomers(count=2)?$select=Name"))
        #expect(first.contains("Grace Hopper") && !first.contains("Ada"))
        #expect(
            first.contains(#""@odata.nextLink":"http://shop.test/v4/TopCustomers(count=2)?$select=Name&$skiptoken="#))
    }

    @Test(arguments: Dialect.allCases)
    func `an action changes the state`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response =
            dialect == .v2
            ? shop.send("POST", "CancelOrder?order=4") : shop.send("POST", "CancelOrder", #"{"order":4}"#)
        #expect(response.status == 204)
        #expect(shop.sandbox.contents(of: "Orders").count == 3)
    }

    @Test(arguments: Dialect.allCases)
    func `an action that fails changes nothing`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let before = shop.sandbox.stateText()
        let response =
            dialect == .v2
            ? shop.send("POST", "CancelOrder?order=9") : shop.send("POST", "CancelOrder", #"{"order":9}"#)
        #expect(response.status == 404)
        #expect(shop.sandbox.stateText() == before)
    }

    @Test func `a bound action returns its entity`() throws {
        var shop = try Shop(.v4)
        let response = shop.send("POST", "Orders(4)/Shop.Annotate", #"{"note":"urgent"}"#)
        #expect(response.status == 200)
        #expect(text(response).contains(#""Note":"urgent""#))
    }

    @Test func `an action with an invalid query option changes nothing`() throws {
        var shop = try Shop(.v4)
        let before = shop.sandbox.stateText()
        #expect(shop.send("POST", "Orders(4)/Shop.Annotate?$select=Nothing", #"{"note":"urgent"}"#).status == 400)
        #expect(shop.sandbox.stateText() == before)
    }

    @Test(arguments: [
        ("GET", "Turnover", 400), ("GET", "Turnover()", 400), ("GET", "Turnover(customer='a')", 400),
        ("GET", "Turnover(customer=99)", 404), ("GET", "Turnover(client=1)", 400),
        ("POST", "Turnover(customer=1)", 400),
        ("GET", "CancelOrder", 400), ("POST", "CancelOrder", 400), ("GET", "TopCustomers(count=-1)", 400),
        ("GET", "TopCustomers(count=1)/$count", 501), ("GET", "Customers(1)/Shop.Annotate", 404),
        ("POST", "Orders(99)/Shop.Annotate", 404), ("DELETE", "Turnover(customer=1)", 405),
    ])
    func `an invalid call is refused`(_ method: String, _ url: String, _ status: Int) throws {
        var shop = try Shop(.v4)
        #expect(shop.send(method, url).status == status)
    }

    @Test func `an operation without an implementation is answered with 501`() throws {
        var shop = try Shop(.v4)
        shop.sandbox.operations = [:]
        #expect(shop.get("Turnover(customer=1)").status == 501)
    }
}
