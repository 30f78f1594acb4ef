import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// BA-18: `if` in batches in JSON, and the same conditions without it.
@Suite struct BatchConditionTests {
    private static let sending = ServiceOptions(batchFormat: .json, supportsRequestConditions: true)
    private static let clients = Client.all.filter { $0.dialect == .v4 }

    private func changes(_ shop: Shop, _ set: String, _ values: [String: Value]) throws -> ChangeSet {
        let changes = ChangeSet()
        changes.createEntity(try shop.new(set, values))
        return changes
    }

    private func posts(_ shop: Shop) -> [WireRequest] { shop.transport.requests.filter { $0.url.hasSuffix("$batch") } }

    @Test(arguments: clients, [true, false])
    func `a part with a condition is executed only if the condition is true`(
        _ client: Client, _ isSent: Bool
    ) async throws {
        let shop = try await Shop(client, options: isSent ? Self.sending : ServiceOptions(batchFormat: .json))
        let batch = RequestBatch()
        let first = try changes(shop, "Customers", ["Name": .string("first")])
        let repair = try changes(shop, "Customers", ["Name": .string("repair")])
        let last = try changes(shop, "Suppliers", ["Name": .string("last")])
        let number = batch.addChanges(first)
        batch.addChanges(repair, if: .failed(number))
        batch.addChanges(last)
        let query = batch.addQuery(DataQuery().from(try shop.set("Customers")), if: .succeeded(number))
        try await shop.service.processBatch(batch)
        #expect(first.isApplied && last.isApplied && !repair.isApplied)
        #expect(try batch.queryResult(query).entityList().count == 4)
    }

    @Test(arguments: [true, false])
    func `a part for the case of a failure is executed after it, and the error is thrown`(
        _ isSent: Bool
    ) async throws {
        let client = try #require(Client.online.first { $0.dialect == .v4 })
        let shop = try await Shop(client, options: isSent ? Self.sending : ServiceOptions(batchFormat: .json))
        let bad = try changes(shop, "Cars", ["Model": .string("without owner")])
        let repair = try changes(shop, "Customers", ["Name": .string("repair")])
        let other = try changes(shop, "Customers", ["Name": .string("other")])
        let batch = RequestBatch()
        let number = batch.addChanges(bad)
        let second = batch.addChanges(repair, if: !.succeeded(number))
        batch.addChanges(other, if: .succeeded(number) && .succeeded(second))
        shop.transport.forgetRequests()
        await #expect(throws: TidelogError.self) { try await shop.service.processBatch(batch) }
        #expect(repair.isApplied && !bad.isApplied && !other.isApplied)
        #expect(shop.serverState().contains("repair") && !shop.serverState().contains("other"))
        #expect(posts(shop).count == (isSent ? 1 : posts(shop).count))
        let body = String(decoding: try #require(posts(shop).first).body, as: UTF8.self)
        if isSent { #expect(body.contains(#""dependsOn":["g1"],"if":"not ($1/$succeeded)""#), "\(body)") }
    }

    @Test func `a part without a condition continues after one that was not executed, but not after a failure`()
        throws
    {
        let part = BatchPart.query(WireRequest(method: "GET", url: "A"))
        let batch = BatchRequest(parts: [part, part, part], conditions: [1: .failed(0)])
        let text = String(decoding: try JSONBatchWriter().write(batch), as: UTF8.self)
        #expect(text.contains(#""id":"r2_1","dependsOn":["r1_1"],"if":"not ($r1_1/$succeeded)""#), "\(text)")
        #expect(
            text.contains(
                #""id":"r3_1","dependsOn":["r2_1","r1_1"],"if":"($r1_1/$succeeded and (not (not ($r1_1/$succeeded)) or $r2_1/$succeeded))""#
            ), "\(text)")
    }

    // MARK: The service

    private func answer(_ requests: String, _ change: (inout Sandbox) -> Void = { _ in }) throws -> String {
        var sandbox = try Sandbox.shop()
        change(&sandbox)
        let request = WireRequest(
            method: "POST", url: "/v4/$batch",
            headers: ["Content-Type": "application/json", "OData-Version": "4.01"],
            body: Array(#"{"requests":[\#(requests)]}"#.utf8))
        return String(decoding: sandbox.handle(request).body, as: UTF8.self)
    }

    @Test(arguments: [
        ("$1/$succeeded", true), ("not ($1/$succeeded)", false), ("$1/Name eq 'Ada Lovelace'", true),
        ("$1/Name eq 'other' or $1/CustomerID gt 0 and $1/$succeeded", true), ("$1/Nothing eq null", true),
        ("$1/Name eq '$1/Name'", false),
    ])
    func `a service evaluates conditions about responses`(_ condition: String, _ isTrue: Bool) throws {
        let text = try answer(
            #"{"id":"1","method":"get","url":"Customers(1)"},"#
                + #"{"id":"2","dependsOn":["1"],"if":"\#(condition)","method":"get","url":"Orders(1)"}"#)
        #expect(text.contains(#"{"id":"2","status":\#(isTrue ? 200 : 424)"#), "\(text)")
    }

    @Test func `a condition takes the place of the success of the dependencies`() throws {
        let missing = #"{"id":"1","method":"get","url":"Customers(999)"},"#
        let request = #"{"id":"2","dependsOn":["1"],"if":"not $1/$succeeded","method":"get","url":"Orders(1)"}"#
        #expect(try answer(missing + request).contains(#"{"id":"2","status":200"#))
        let unsupported = try answer(missing + request) { $0.options.capabilities.requestConditions = false }
        #expect(unsupported.contains(#"{"id":"2","status":424"#))
    }

    @Test(arguments: ["$9/$succeeded", "$1 eq", "$1/$succeeded and"])
    func `a condition that cannot be evaluated makes the batch invalid`(_ condition: String) throws {
        let text = try answer(
            #"{"id":"1","method":"get","url":"Customers(1)"},"#
                + #"{"id":"2","dependsOn":["1"],"if":"\#(condition)","method":"get","url":"Orders(1)"}"#)
        #expect(text.contains("error") && !text.contains("responses"))
    }

    // MARK: References to ETags (BA-16)

    @Test func `a change refers to the ETag of an earlier response in the same batch`() throws {
        func batch(_ reference: String, _ before: String = "") throws -> String {
            try answer(
                #"{"id":"1","method":"get","url":"Orders(1)"},\#(before)"#
                    + #"{"id":"2","dependsOn":["1"],"method":"patch","url":"Orders(1)","headers":{"if-match":"\#(reference)","#
                    + #""content-type":"application/json"},"body":{"Note":"x"}}"#)
        }
        #expect(
            try batch("$1").contains(#"{"id":"2","status":204"#) || batch("$1").contains(#"{"id":"2","status":200"#))
        let change =
            #"{"id":"c","method":"patch","url":"Orders(1)","headers":{"if-match":"*","content-type":"application/json"},"body":{"Note":"y"}},"#
        #expect(try batch("$1", change).contains(#"{"id":"2","status":412"#))
    }

    @Test(arguments: Client.offline.filter { $0.dialect == .v4 })
    func `an upload protects the second change of an entity in a change set`(_ client: Client) async throws {
        let shop = try await Shop(client, options: ServiceOptions(supportsETagReferences: true))
        let order = try await shop.one("Orders", 1)
        let customer = try await shop.one("Customers", 2)
        let changes = ChangeSet()
        order["Note"] = .string("first")
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        changes.updateEntity(order)
        changes.deleteEntity(order)
        try await shop.service.applyChanges(changes)
        shop.transport.forgetRequests()
        try await shop.synchronize()
        let body = String(decoding: try #require(posts(shop).first).body, as: UTF8.self)
        #expect(body.contains("If-Match: $1\r\n"), "\(body)")
    }
}
