import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct CreateTests {
    @Test(arguments: Dialect.allCases)
    func `the service assigns ascending keys and replaces keys of the client`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = shop.send("POST", "Owners", #"{"OwnerID":77,"Name":"New","Car":{"CarID":77,"Model":"Mini"}}"#)
        #expect(response.status == 201, "\(response.text)")
        #expect(response.headers["Location"] == shop.root + "Owners(3)")
        #expect(shop.links("Owners", "Cars").contains("Owners(3)\n  Car: Cars(3)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a bind on create links from both ends and writes the dependent property`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = shop.send("POST", "Orders", "{\"Note\":\"bound\",\(shop.bind("Customer", "Customers(3)"))}")
        #expect(response.status == 201, "\(response.text)")
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(5)\n"))
        #expect(shop.state("Orders").contains("Orders(5) {OrderID: 5, CustomerID: 3, Note: 'bound'"))
    }

    @Test(arguments: Dialect.allCases)
    func `a bind wins over the dependent property in the same body`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        shop.send("POST", "Orders", "{\"CustomerID\":1,\(shop.bind("Customer", "Customers(3)"))}")
        #expect(shop.state("Orders").contains("Orders(5) {OrderID: 5, CustomerID: 3,"))
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent property on create sets the link`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        shop.send("POST", "Orders", #"{"CustomerID":3}"#)
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent property without a matching principal is refused and nothing is created`(_ dialect: Dialect)
        throws
    {
        var shop = try Shop(dialect)
        let before = shop.sandbox.stateText()
        let response = shop.send("POST", "Orders", #"{"CustomerID":99}"#)
        #expect(response.status == 400)
        #expect(response.errorCode == "ReferentialConstraint")
        #expect(shop.sandbox.stateText() == before)
    }

    @Test(arguments: Dialect.allCases)
    func `a POST through a navigation property links the created entity`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = shop.send("POST", "Customers(3)/Orders", #"{"Note":"related"}"#)
        #expect(response.status == 201, "\(response.text)")
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n  Orders: Orders(5)\n"))
        #expect(shop.state("Orders").contains("CustomerID: 3, Note: 'related'"))
    }

    @Test(arguments: Dialect.allCases)
    func `a POST through a navigation property cannot bind another entity`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = shop.send("POST", "Customers(3)/Orders", "{\(shop.bind("Customer", "Customers(1)"))}")
        #expect(response.status == 400)
        #expect(shop.links("Customers").hasSuffix("Customers(3)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a deep insert creates both ends and returns them expanded`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = shop.send(
            "POST", "Customers", #"{"Name":"Deep","Orders":[{"Note":"one"},{"Note":"two"}]}"#)
        #expect(response.status == 201, "\(response.text)")
        let orders = try response.json()["Orders"]
        #expect((orders?["results"] ?? orders)?.array?.compactMap { $0["Note"]?.string } == ["one", "two"])
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a deep insert with one refused part creates nothing`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let before = shop.sandbox.stateText()
        let response = shop.send("POST", "Customers", #"{"Name":"Deep","Orders":[{"Note":"one"},{"Nope":1}]}"#)
        #expect(response.status == 400)
        #expect(shop.sandbox.stateText() == before)
    }

    @Test(arguments: Dialect.allCases)
    func `a key that the client assigns is required and must be unique`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let taken = #"{"VisitID":"11111111-2222-3333-4444-555555555555","Subject":"again"}"#
        #expect(shop.send("POST", "Visits", taken).status == 409)
        #expect(shop.send("POST", "Visits", #"{"Subject":"no key"}"#).errorCode == "MissingKey")
        let free = #"{"VisitID":"11111111-2222-3333-4444-555555555556","Subject":"new"}"#
        #expect(shop.send("POST", "Visits", free).status == 201)
    }

    @Test(arguments: Dialect.allCases)
    func `a composite key of the client is accepted unchanged`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let amount = dialect == .v2 ? #""0.5""# : "0.5"
        let response = shop.send("POST", "Prices", #"{"Currency":"USD","Day":3,"Amount":\#(amount)}"#)
        #expect(response.headers["Location"] == shop.root + "Prices(Currency='USD',Day=3)")
        #expect(shop.get("Prices(Day=3,Currency='USD')").status == 200)
    }

    @Test(arguments: Dialect.allCases)
    func `an unknown property, a wrong type, a string that is too long and a missing value are refused`(
        _ dialect: Dialect
    ) throws {
        var shop = try Shop(dialect)
        let long = String(repeating: "x", count: 81)
        for body in [#"{"Nope":1}"#, #"{"Name":5}"#, #"{"Name":"\#(long)"}"#, #"{"Rating":null}"#, "{", "[]"] {
            #expect(shop.send("POST", "Customers", body).status == 400, "\(body)")
        }
        #expect(shop.links("Customers").contains("Customers(4)") == false)
    }

    @Test func `V4 returns the location of the new entity for a create with return=minimal`() throws {
        var shop = try Shop(.v4)
        let response = shop.send(
            "POST", "Customers", #"{"Name":"Quiet"}"#, headers: ["Prefer": "return=minimal"])
        #expect(response.status == 204)
        #expect(response.body.isEmpty)
        #expect(response.headers["OData-EntityId"] == shop.root + "Customers(4)")
        #expect(response.headers["Location"] == shop.root + "Customers(4)")
    }

    @Test func `V4 binds a collection on create`() throws {
        var shop = try Shop(.v4)
        let response = shop.send("POST", "Customers", #"{"Name":"n","Orders@odata.bind":["Orders(4)","Orders(1)"]}"#)
        #expect(response.status == 201, "\(response.text)")
        #expect(shop.links("Customers").hasPrefix("Customers(1)\n  Orders: Orders(2)\n"))
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(1), Orders(4)\n"))
    }
}
