import EDM
import ODataSandbox
import ODataWire
import Testing

@Suite struct BatchTests {
    @Test(arguments: Dialect.allCases)
    func `Content-ID references in URLs and bodies link orders to a new customer`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = try shop.changeSet([
            ("POST", "Customers", #"{"Name":"New"}"#),
            ("POST", "$1/Orders", #"{"Note":"by URL"}"#),
            ("POST", "Orders", "{\"Note\":\"by bind\",\(shop.bind("Customer", "$1"))}"),
            ("POST", "Orders", #"{"Note":"by link"}"#),
            shop.linkMessage("$4", "Customer", "$1"),
            (shop.updateMethod, "$1", #"{"Name":"Renamed"}"#),
        ])
        #expect(response.statuses == "[201, 201, 201, 201, 204, 204]")
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6), Orders(7)\n"))
        #expect(shop.state("Customers").contains("Name: 'Renamed'"))
    }

    @Test func `V2 resolves references in any order`() throws {
        var shop = try Shop(.v2)
        let response = try shop.changeSet([
            shop.linkMessage("$3", "Customer", "$2"), ("POST", "Customers", #"{"Name":"New"}"#),
            ("POST", "$2/Orders", #"{"Note":"n"}"#),
        ])
        #expect(response.statuses == "[204, 201, 201]")
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
    }

    @Test func `V4 refuses a reference to a later request`() throws {
        var shop = try Shop(.v4)
        let response = try shop.changeSet([
            ("POST", "$2/Orders", #"{"Note":"n"}"#), ("POST", "Customers", #"{"Name":"New"}"#),
        ])
        #expect(response.statuses == "400")
        #expect(shop.links("Customers").contains("Customers(4)") == false)
    }

    @Test(arguments: Dialect.allCases)
    func `a reference to 10 is not mistaken for a reference to 1`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        var messages: [Shop.Message] = (1...9).map { ("POST", "Customers", "{\"Name\":\"C\($0)\"}") }
        messages.append(("POST", "Customers", #"{"Name":"tenth"}"#))
        messages.append(("POST", "$10/Orders", #"{"Note":"of the tenth"}"#))
        messages.append(("POST", "$1/Orders", #"{"Note":"of the first"}"#))
        _ = try shop.changeSet(messages)
        #expect(shop.links("Customers").contains("Customers(4)\n  Orders: Orders(6)\n"))
        #expect(shop.links("Customers").contains("Customers(13)\n  Orders: Orders(5)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `a change set with one refused request changes nothing and yields one response`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let before = shop.sandbox.stateText()
        let response = try shop.changeSet([
            ("POST", "Customers", #"{"Name":"New"}"#), ("DELETE", "Orders(1)", ""), ("DELETE", "Orders(99)", ""),
        ])
        #expect(response.statuses == "404")
        #expect(response.parts.count == 1)
        guard case .single(let culprit, let error) = response.parts[0] else {
            Issue.record("A single part was expected.")
            return
        }
        #expect(culprit == (dialect == .v4 ? "3" : nil))
        #expect(error.errorCode == "NotFound")
        #expect(shop.sandbox.stateText() == before)
    }

    @Test(arguments: Dialect.allCases)
    func `the error for a rule that is violated at the end names the request`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = try shop.changeSet([
            ("POST", "Cities", #"{"Name":"c"}"#), ("POST", "Mayors", #"{"Name":"m"}"#),
        ])
        guard case .single(let culprit, let error) = response.parts.first else {
            Issue.record("\(response)")
            return
        }
        #expect(error.errorCode == "MandatoryEnd")
        #expect(error.text.contains("Mayors(3) must have a City"))
        // V2 does not return Content-IDs.
        #expect(culprit == (dialect == .v4 ? "2" : nil))
    }

    @Test(arguments: Dialect.allCases)
    func `the response of a failed change set is wrapped in a multipart if the option is set`(_ dialect: Dialect) throws
    {
        var shop = try Shop(dialect)
        shop.sandbox.options.wrapsFailedChangeSets = true
        #expect(try shop.changeSet([("DELETE", "Orders(99)", "")]).statuses == "[404]")
    }

    @Test(arguments: Dialect.allCases)
    func `each change set of a batch takes effect independently`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        func post(_ id: String, _ body: String) -> BatchPart {
            .changeSet([.init(contentID: id, request: shop.request("POST", "Customers", body, [:]))])
        }
        let parts = [
            post("1", #"{"Name":"first"}"#), post("2", #"{"Nope":1}"#),
            .query(WireRequest(method: "GET", url: "Customers/$count")), post("3", #"{"Name":"last"}"#),
        ]
        let preferred = try shop.batch(parts, headers: ["Prefer": "continue-on-error"])
        #expect(preferred.statuses == "[201] 400 200 [201]")
        // V4 stops at the first error unless the client requests otherwise; V2 continues.
        let plain = try shop.batch(parts)
        #expect(plain.statuses == (dialect == .v4 ? "[201] 400" : "[201] 400 200 [201]"))
    }

    @Test(arguments: Dialect.allCases)
    func `a change set cannot refer to a request of another change set`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = try shop.batch([
            .changeSet([.init(contentID: "1", request: shop.request("POST", "Customers", #"{"Name":"n"}"#, [:]))]),
            .changeSet([.init(contentID: "2", request: shop.request("POST", "$1/Orders", #"{"Note":"n"}"#, [:]))]),
        ])
        #expect(response.statuses == "[201] 400")
    }

    @Test(arguments: Dialect.allCases)
    func `the status of a batch is the status of its version`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        let response = try shop.rawBatch([.query(WireRequest(method: "GET", url: "Customers(1)"))])
        #expect(response.status == (dialect == .v2 ? 202 : 200))
    }

    @Test func `V4 returns the Content-IDs and requires one for each member`() throws {
        var shop = try Shop(.v4)
        let response = try shop.changeSet([
            ("POST", "Customers", #"{"Name":"a"}"#), ("POST", "Customers", #"{"Name":"b"}"#),
        ])
        guard case .changeSet(let members) = response.parts.first else {
            Issue.record("\(response)")
            return
        }
        #expect(members.map(\.contentID) == ["1", "2"])
        let anonymous = BatchPart.Member(
            contentID: nil, request: shop.request("POST", "Customers", #"{"Name":"c"}"#, [:]))
        #expect(try shop.rawBatch([.changeSet([anonymous])]).status == 400)
        #expect(shop.links("Customers").contains("Customers(6)") == false)
    }

    @Test(arguments: ["1\u{7F}", "1\u{1}"])
    func `a batch with a Content-ID that a header cannot contain is refused without an effect`(_ id: String) throws {
        var shop = try Shop(.v4)
        let parts = [
            "Content-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
                + "Content-ID: \(id)\r\n\r\nPOST Customers HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
                + "{\"Name\":\"n\"}\r\n--c--",
            "Content-Type: application/http\r\nContent-ID: \(id)\r\n\r\nGET Customers HTTP/1.1\r\n\r\n",
        ]
        let before = shop.sandbox.state
        for part in parts {
            let response = shop.send(
                "POST", "$batch", "--b\r\n\(part)\r\n--b--\r\n",
                headers: ["Content-Type": "multipart/mixed; boundary=b"])
            #expect(response.status == 400)
            #expect(response.errorCode == "InvalidBatch")
        }
        #expect(shop.sandbox.state == before)
    }

    @Test(arguments: Dialect.allCases)
    func `a body that is not a batch is refused`(_ dialect: Dialect) throws {
        var shop = try Shop(dialect)
        #expect(shop.send("POST", "$batch", "{}", headers: ["Content-Type": "text/plain"]).status == 415)
        #expect(
            shop.send("POST", "$batch", "no parts", headers: ["Content-Type": "multipart/mixed; boundary=b"]).status
                == 400)
    }
}
