import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct ReadTests {
    private func rows(_ response: WireResponse) throws -> [JSONValue] {
        let json = try response.json()
        return (json["value"] ?? json["results"] ?? json).array ?? []
    }

    private func ids(_ response: WireResponse, _ name: String = "OrderID") throws -> [Int64?] {
        try rows(response).map { $0[name]?.integer }
    }

    @Test func `V4 writes every kind of value in the V4 format`() throws {
        var shop = try Shop(.v4)
        let customer = try shop.get("Customers(1)").json()
        #expect(customer["@odata.context"]?.string == shop.root + "$metadata#Customers/$entity")
        #expect(customer["Since"]?.string == "2019-03-01")
        #expect(customer["Tags"]?.array?.compactMap(\.string) == ["vip", "math"])
        #expect(customer["Address"]?["City"]?.string == "Genève")
        #expect(customer["Rating"] == .number("4.75"))
        let visit = try shop.get("Visits(11111111-2222-3333-4444-555555555555)").json()
        #expect(visit["Duration"]?.string == "PT1H30M")
        #expect(visit["Mood"]?.string == "Busy")
        #expect(try shop.get("Orders(3)").json()["Total"] == .number("9007199254740993"))
    }

    @Test func `V2 writes every kind of value in the V2 format`() throws {
        var shop = try Shop(.v2)
        let customer = try shop.get("Customers(1)").json()
        #expect(customer["__metadata"]?["uri"]?.string == shop.root + "Customers(1)")
        #expect(customer["__metadata"]?["type"]?.string == "Shop.Customer")
        #expect(customer["Since"]?.string == "/Date(1551398400000)/")
        #expect(customer["Tags"] == nil)
        #expect(customer["Rating"]?.string == "4.75")
        #expect(customer["Orders"]?["__deferred"]?["uri"]?.string == shop.root + "Customers(1)/Orders")
        let visit = try shop.get("Visits(guid'11111111-2222-3333-4444-555555555555')").json()
        #expect(visit["Duration"]?.string == "PT1H30M")
        #expect(visit["Mood"] == nil)
        #expect(try shop.get("Orders(3)").json()["Total"]?.string == "9007199254740993")
    }

    @Test(arguments: Dialect.allCases)
    func `a query filters, sorts, skips and limits`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(try ids(shop.get("Orders?$filter=Quantity%20gt%201&$orderby=Quantity%20desc")) == [2, 1, 4])
        #expect(try ids(shop.get("Orders?$filter=CustomerID%20eq%20null")) == [4])
        #expect(try ids(shop.get("Orders?$filter=Customer/Name%20eq%20'Ada%20Lovelace'")) == [1, 2])
        #expect(try ids(shop.get("Orders?$orderby=Customer/Name%20desc,OrderID%20desc&$skip=1&$top=2")) == [2, 1])
        #expect(try ids(shop.get("Customers(1)/Orders?$filter=startswith(Note,'punched')")) == [2])
        #expect(shop.get("Orders?$filter=Nope%20eq%201").status == 400)
        #expect(shop.get("Orders?$nope=1").status == 400)
    }

    @Test(
        arguments: [
            ("Orders(1)/Quantity gt 0", [1]), ("Orders(OrderID=1)/Quantity gt 0", [1]),
            ("Orders(1)/Quantity eq null", [2, 3]),
            ("not (Orders(1)/Quantity gt 0)", [2, 3]), ("Orders(99)/Note eq null", [1, 2, 3]),
            ("case(Orders/$count gt 1:2,Orders/$count gt 0:1,true:0) eq 1", [2]),
            ("case(CustomerID eq 1:10:20,true:5) eq 5", [2, 3]), ("CustomerID in (1,%2B3,null)", [1, 3]),
            ("isof(Tags,Collection(Edm.String))", [1, 2, 3]),
        ] as [(String, [Int64])])
    func `V4 filters by keys, case expressions and types like a store`(filter: String, expected: [Int64]) throws {
        var shop = try Shop(.v4)
        let url = "Customers?$filter=" + filter.replacing(" ", with: "%20")
        #expect(try ids(shop.get(url), "CustomerID") == expected)
    }

    @Test func `V4 refuses an unsupported expression with a message that names it`() throws {
        var shop = try Shop(.v4)
        let answer = shop.get("Customers?$filter=$root/Orders(1)/Note%20eq%20Name")
        #expect(answer.status == 501)
        #expect(String(decoding: answer.body, as: UTF8.self).contains("$root"))
    }

    @Test func `V4 filters over collections`() throws {
        var shop = try Shop(.v4)
        #expect(try ids(shop.get("Customers?$filter=Orders/any(o:o/Quantity%20gt%205000)"), "CustomerID") == [1])
        #expect(try ids(shop.get("Customers?$filter=Orders/$count%20eq%200"), "CustomerID") == [3])
        #expect(try ids(shop.get("Customers?$filter=Tags/any(t:t%20eq%20'vip')"), "CustomerID") == [1])
        #expect(try ids(shop.get("Customers?$filter=contains(Address/City,'nève')"), "CustomerID") == [1])
    }

    @Test func `V2 filters with V2 literals`() throws {
        var shop = try Shop(.v2)
        #expect(
            try ids(shop.get("Customers?$filter=Since%20lt%20datetime'2020-01-01T00:00:00'"), "CustomerID") == [1])
        #expect(try ids(shop.get("Orders?$filter=Amount%20gt%20100.0M")) == [1])
        #expect(try ids(shop.get("Orders?$filter=substringof('cards',Note)")) == [2])
    }

    @Test(arguments: Dialect.allCases)
    func `expand returns related entities, also nested ones`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let url =
            dialect == .v2
            ? "Customers?$expand=Orders/Customer&$orderby=CustomerID" : "Customers?$expand=Orders($expand=Customer)"
        let first = try #require(try rows(shop.get(url)).first)
        let orders = try #require((first["Orders"]?["results"] ?? first["Orders"])?.array)
        #expect(orders.map { $0["OrderID"]?.integer } == [1, 2])
        #expect(orders.map { $0["Customer"]?["Name"]?.string } == ["Ada Lovelace", "Ada Lovelace"])
        let order = try shop.get("Orders(4)?$expand=Customer").json()
        #expect(order["Customer"] == .null)
    }

    @Test(arguments: Dialect.allCases)
    func `select omits the properties that are not selected`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let customer = try shop.get("Customers(1)?$select=Name").json()
        #expect(customer["Name"]?.string == "Ada Lovelace")
        #expect(customer["Rating"] == nil)
        #expect(customer["Orders"] == nil)
        // Without the key, the client could not identify the entity.
        #expect((customer["@odata.id"] ?? customer["__metadata"]?["uri"])?.string == shop.root + "Customers(1)")
    }

    @Test(arguments: Dialect.allCases)
    func `pages have no gaps or repetitions while entities are created and deleted`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        shop.sandbox.options.pageSize = 2
        let count = dialect == .v2 ? "$inlinecount=allpages" : "$count=true"
        let first = try shop.get("Orders?$orderby=OrderID&\(count)").json()
        #expect((first["@odata.count"] ?? first["__count"])?.integer ?? Int64((first["__count"]?.string) ?? "") == 4)
        shop.delete("Orders(1)")
        let next = try #require((first["@odata.nextLink"] ?? first["__next"])?.string)
        #expect(next.hasPrefix(shop.root + "Orders?"))
        let second = shop.sandbox.handle(WireRequest(method: "GET", url: next))
        #expect(try ids(second) == [3, 4])
        let last = try second.json()
        #expect(last["@odata.nextLink"] == nil && last["__next"] == nil)
        #expect(shop.get("Orders?$skiptoken=nonsense").status == 400)
    }

    @Test func `a client can request smaller pages, and top limits them`() throws {
        var shop = try Shop(.v4)
        var url: String? = shop.root + "Orders?$top=3"
        var pages: [[Int64?]] = []
        while let next = url, pages.count < 9 {
            let response = shop.sandbox.handle(
                WireRequest(method: "GET", url: next, headers: pages.isEmpty ? ["Prefer": "odata.maxpagesize=2"] : [:]))
            pages.append(try ids(response))
            url = try response.json()["@odata.nextLink"]?.string
        }
        #expect(pages == [[1, 2], [3]])
    }

    @Test(arguments: Dialect.allCases)
    func `counts, links, properties and related entities have their own URLs`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.get("Orders/$count").text == "4")
        #expect(shop.get("Orders/$count?$filter=Quantity%20gt%201").text == "3")
        #expect(shop.get("Customers(1)/Orders/$count").text == "2")
        #expect(try shop.get("Orders(1)/Customer").json()["CustomerID"]?.integer == 1)
        #expect(shop.get("Orders(4)/Customer").status == (dialect == .v2 ? 404 : 204))
        #expect(shop.get("Customers(1)/Orders(3)").status == 404)
        #expect(shop.get("Customers(1)/Name/$value").text == "Ada Lovelace")
        let links = shop.get(dialect == .v2 ? "Customers(1)/$links/Orders" : "Customers(1)/Orders/$ref")
        #expect(links.text.contains(shop.root + "Orders(1)") && links.text.contains(shop.root + "Orders(2)"))
    }

    @Test(arguments: Dialect.allCases)
    func `unknown paths and keys are not found`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        for url in ["Nowhere", "Customers(99)", "Customers(1)/Nowhere", "Customers(1)/Name/Nowhere"] {
            #expect(shop.get(url).status == 404, "\(url)")
        }
        #expect(shop.get("Customers('x')").status == 400)
        #expect(shop.sandbox.handle(WireRequest(method: "GET", url: "/elsewhere")).status == 404)
    }

    @Test(arguments: Dialect.allCases)
    func `the service returns its metadata and service document`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let metadata = shop.get("$metadata")
        #expect(metadata.headers["Content-Type"] == "application/xml")
        let model = try CSDLReader.read(metadata.body)
        #expect(model.entitySets.count == 15)
        #expect(model.version.isLegacy == (dialect == .v2))
        #expect(shop.get("").text.contains("Customers"))
        #expect(
            shop.get("").headers[dialect == .v2 ? "DataServiceVersion" : "OData-Version"]
                == (dialect == .v2 ? "2.0" : "4.0"))
    }

    @Test(arguments: Dialect.allCases)
    func `errors have the format of their version`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let error = try #require(try JSONValue.parse(shop.get("Customers(99)").body)["error"])
        #expect(error["code"]?.string == "NotFound")
        #expect((error["message"]?["value"] ?? error["message"])?.string?.contains("Customers(99)") == true)
    }

    @Test func `the metadata of both versions contains all six combinations of multiplicities`() throws {
        for dialect in Dialect.allCases {
            var shop = try Shop(dialect)
            let model = try CSDLReader.read(shop.get("$metadata").body)
            func kind(_ type: String, _ navigation: String) -> RelationshipClass? {
                model.findEntityType("Shop.\(type)")?.findProperty(navigation)?.navigation?.relationshipClass
            }
            #expect(kind("Customer", "Orders") == .zeroOrOneToMany)
            #expect(kind("Order", "Customer") == .zeroOrOneToMany)
            #expect(kind("Owner", "Car") == .oneToOne)
            #expect(kind("City", "Mayor") == .oneToZeroOrOne)
            #expect(kind("Child", "Father") == .oneToMany)
            #expect(kind("Person", "IDCard") == .zeroOrOneToZeroOrOne)
            #expect(kind("Supplier", "Products") == .manyToMany)
        }
    }
}
