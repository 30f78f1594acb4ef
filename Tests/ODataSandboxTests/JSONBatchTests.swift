import EDM
import ODataSandbox
import ODataWire
import Testing

/// Handwritten `$batch` requests in JSON.
struct JSONBatchTests {
    private func shop() throws -> Shop { try Shop(.v4) }

    private func send(
        _ shop: inout Shop, _ requests: String..., version: String = "4.01", prefer: String? = nil
    ) -> WireResponse {
        var headers = ["Content-Type": "application/json", "OData-Version": version]
        headers["Prefer"] = prefer
        return shop.send("POST", "$batch", "{\"requests\":[\(requests.joined(separator: ","))]}", headers: headers)
    }

    /// Returns `id status` for each response.
    private func statuses(_ response: WireResponse) throws -> [String] {
        try #require(try JSONValue.parse(response.body)["responses"]?.array).map {
            "\($0["id"]?.string ?? "?") \($0["status"]?.integer ?? 0)"
        }
    }

    private let customer = #"{"id":"1","atomicityGroup":"g","method":"post","url":"Customers","body":{"Name":"new"}}"#
    private let order =
        #"{"id":"2","atomicityGroup":"g","dependsOn":["1"],"method":"POST","url":"$1/Orders","body":{"Note":"n"}}"#

    @Test func `a group with a reference is executed completely`() throws {
        var shop = try shop()
        let response = send(&shop, customer, order)
        #expect(response.status == 200)
        #expect(response.headers["OData-Version"] == "4.01")
        #expect(try statuses(response) == ["1 201", "2 201"])
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5)\n"))
        let first = try JSONValue.parse(response.body)["responses"]?.array?.first
        #expect(first?["atomicityGroup"] == .string("g"))
        #expect(first?["body"]?["Name"] == .string("new"))
        #expect(first?["headers"]?["location"]?.string?.hasSuffix("Customers(4)") == true)
    }

    @Test func `a failed group changes nothing, and its members and dependents are answered with 424`() throws {
        var shop = try shop()
        let before = shop.state()
        let bad = #"{"id":"3","atomicityGroup":"g","method":"post","url":"Cars","body":{"Model":"alone"}}"#
        let after = #"{"id":"4","dependsOn":["g"],"method":"get","url":"Customers"}"#
        #expect(try statuses(send(&shop, customer, bad, after)) == ["1 424", "3 400", "4 424"])
        #expect(shop.state() == before)
    }

    @Test func `a later part refers to an entity that an earlier part created`() throws {
        var shop = try shop()
        let read = #"{"id":"3","dependsOn":["g","1"],"method":"get","url":"$1/Orders"}"#
        let bind =
            #"{"id":"4","dependsOn":["1"],"method":"post","url":"Orders","body":{"Customer@odata.bind":"$1"}}"#
        let response = send(&shop, customer, order, read, bind)
        #expect(try statuses(response) == ["1 201", "2 201", "3 200", "4 201"])
        let found = try JSONValue.parse(response.body)["responses"]?.array?[2]["body"]?["value"]?.array
        #expect(found?.count == 1)
        #expect(shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(5), Orders(6)\n"))
    }

    @Test func `an error stops the batch unless the client prefers to continue`() throws {
        let bad = #"{"id":"1","method":"get","url":"Nothing"}"#
        let good = #"{"id":"2","method":"get","url":"/v4/Customers(1)"}"#
        var shop = try shop()
        #expect(try statuses(send(&shop, bad, good)) == ["1 404"])
        #expect(try statuses(send(&shop, bad, good, prefer: "continue-on-error")) == ["1 404", "2 200"])
    }

    @Test(arguments: [
        // A dependency on a later request, an undeclared dependency, a duplicate ID, an ID that is also a group, a
        // group that is interrupted by another request, and a request without an ID.
        #"{"id":"1","dependsOn":["2"],"method":"get","url":"Cars"},{"id":"2","method":"get","url":"Cars"}"#,
        #"{"id":"1","method":"get","url":"Cars(1)"},{"id":"2","method":"get","url":"$1/Owner"}"#,
        #"{"id":"1","method":"get","url":"Cars(1)"},{"id":"1","method":"get","url":"Cars"}"#,
        #"{"id":"1","atomicityGroup":"1","method":"delete","url":"Cars(1)"}"#,
        """
        {"id":"1","atomicityGroup":"g","method":"delete","url":"Cars(1)"},{"id":"2","method":"get","url":"Cars"},\
        {"id":"3","atomicityGroup":"g","method":"delete","url":"Cars(2)"}
        """,
        #"{"method":"get","url":"Cars"}"#, "1", "",
    ])
    func `a batch that violates the format is refused completely`(_ requests: String) throws {
        var shop = try shop()
        let before = shop.state()
        let response = send(&shop, requests)
        #expect(response.status == 400)
        #expect(response.errorCode == "InvalidBatch")
        #expect(shop.state() == before)
    }

    @Test func `only version 4.01 accepts a batch in JSON`() throws {
        var shop = try shop()
        #expect(send(&shop, customer, version: "4.0").status == 400)
        var legacy = try Shop(.v2)
        #expect(send(&legacy, customer).status == 415)
    }
}
