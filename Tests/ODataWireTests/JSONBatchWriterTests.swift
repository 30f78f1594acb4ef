import EDM
import Testing

@testable import ODataQuery
@testable import ODataWire

struct JSONBatchWriterTests {
    static func post(_ url: String, _ body: String, _ type: String = "application/json") -> WireRequest {
        WireRequest(method: "POST", url: url, headers: ["Content-Type": type], body: Array(body.utf8))
    }

    private func written(_ parts: BatchPart...) throws -> [JSONValue] {
        let bytes = try JSONBatchWriter().write(BatchRequest(parts: parts))
        return try #require(try JSONValue.parse(bytes)["requests"]?.array)
    }

    private func dependencies(_ request: JSONValue) -> [String]? { request["dependsOn"]?.array?.compactMap(\.string) }

    @Test func `a parent and its child form one atomicity group in which the child depends on the parent`() throws {
        let batch = BatchRequest(parts: [
            .changeSet([
                .init(contentID: "1", request: Self.post("Customers", #"{"Name":"NewCustomer"}"#)),
                .init(contentID: "2", request: Self.post("$1/Orders", #"{"OrderID":5}"#)),
            ])
        ])
        let wanted = """
            {"requests":[\
            {"id":"1","atomicityGroup":"g1","method":"post","url":"Customers",\
            "headers":{"content-type":"application/json"},"body":{"Name":"NewCustomer"}},\
            {"id":"2","atomicityGroup":"g1","dependsOn":["1"],"method":"post","url":"$1/Orders",\
            "headers":{"content-type":"application/json"},"body":{"OrderID":5}}\
            ]}
            """
        #expect(String(decoding: try JSONBatchWriter().write(batch), as: UTF8.self) == wanted)
    }

    @Test func `each part depends on the previous part, also on a query`() throws {
        let requests = try written(
            .changeSet([.init(contentID: "1", request: Self.post("A", "{}"))]),
            .query(WireRequest(method: "GET", url: "A")),
            .changeSet([
                .init(contentID: "2", request: Self.post("A", #"{"B@odata.bind":"$1"}"#)),
                .init(contentID: "3", request: Self.post("A", "{}")),
            ]))
        #expect(requests.map { $0["id"]?.string } == ["1", "r2_1", "2", "3"])
        #expect(requests.map { $0["atomicityGroup"]?.string } == ["g1", nil, "g3", "g3"])
        #expect(requests.map(dependencies) == [nil, ["g1"], ["r2_1", "g1", "1"], ["r2_1"]])
    }

    @Test(arguments: [
        (#"{"B@odata.bind":"$1"}"#, ["1"]), (#"{"B@odata.bind":["$1/C","$2"]}"#, ["1", "2"]),
        (#"{"@odata.id":"$2"}"#, ["2"]), (#"{"D":{"B@bind":"$1"}}"#, ["1"]), (#"{"Note":"$1"}"#, nil),
        (#"{"B@odata.bind":"$9"}"#, nil), (#"{"B@odata.bind":"$10"}"#, nil),
    ])
    func `only links to earlier requests count as references`(_ body: String, _ wanted: [String]?) throws {
        let requests = try written(
            .changeSet(
                ["1", "2"].map { .init(contentID: $0, request: Self.post("A", "{}")) } + [
                    .init(contentID: "3", request: Self.post("A", body))
                ]))
        #expect(dependencies(requests[2]) == wanted)
    }

    @Test func `a link deletion that names a new entity in its query counts as a reference`() throws {
        let requests = try written(
            .changeSet([
                .init(contentID: "1", request: Self.post("A", "{}")),
                .init(contentID: "2", request: WireRequest(method: "DELETE", url: "A(1)/Bs/$ref?$id=%241")),
            ]))
        #expect(dependencies(requests[1]) == ["1"])
        #expect(requests[1]["method"] == .string("delete"))
    }

    @Test func `generated ids differ from the ids in the batch`() throws {
        let requests = try written(
            .changeSet([.init(contentID: "g1", request: Self.post("A", "{}"))]),
            .query(WireRequest(method: "GET", url: "A", headers: ["Content-ID": "r2_1"])),
            .query(WireRequest(method: "GET", url: "A")))
        #expect(requests.map { $0["id"]?.string } == ["g1", "r2_1", "r3_1"])
        #expect(requests[0]["atomicityGroup"] == .string("g1_"))
        #expect(requests[1]["headers"] == nil)
    }

    @Test func `bodies are written as unchanged JSON, strings or base64url`() throws {
        let exact = #"{"a":1.10e2, "b":12345678901234567890}"#
        let parts: [BatchPart] = [
            .query(Self.post("A", exact, "application/json;odata.metadata=minimal")),
            .query(Self.post("A", "a \"text\"", "text/plain")),
            .query(WireRequest(method: "PUT", url: "A", headers: ["Content-Type": "image/png"], body: [0xFB, 0xFF])),
            .query(WireRequest(method: "DELETE", url: "A", headers: ["If-Match": "W/\"1\"", "Content-Length": "0"])),
        ]
        let bytes = try JSONBatchWriter().write(BatchRequest(parts: parts))
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""body":\#(exact)}"#))
        let requests = try #require(try JSONValue.parse(bytes)["requests"]?.array)
        #expect(requests[1]["body"] == .string("a \"text\""))
        #expect(requests[2]["body"]?.string.flatMap { Base64.decode(Array($0.utf8)) } == [0xFB, 0xFF])
        #expect(requests[2]["body"]?.string?.hasPrefix("-_8") == true)
        #expect(requests[3]["body"] == nil)
        #expect(requests[3]["headers"]?.object?.members.map(\.name) == ["if-match"])
    }

    @Test func `an invalid batch is rejected with a reason`() {
        func error(_ requests: WireRequest..., ids: [String] = ["1", "2"]) -> BatchWriteError? {
            let members = zip(ids, requests).map { BatchPart.Member(contentID: $0, request: $1) }
            do throws(BatchWriteError) {
                _ = try JSONBatchWriter().write(BatchRequest(parts: [.changeSet(members)]))
                return nil
            } catch { return error }
        }
        let good = Self.post("A", "{}")
        #expect(error(good, good, ids: ["1", "1"]) == .duplicateContentID("1"))
        #expect(error(Self.post("A", "{} {}")) == .invalidBody(contentType: "application/json"))
        #expect(error(Self.post("A B", "{}")) == .invalidText("URL"))
        #expect(error(WireRequest(method: "P T", url: "A")) == .invalidText("method"))
        #expect(error(WireRequest(method: "GET", url: "A", headers: ["X": "a\r\nb"])) == .invalidText("header"))
        #expect(
            error(WireRequest(method: "GET", url: "A", headers: ["authorization": "a"]))
                == .forbiddenHeader("authorization"))
        let invalid = WireRequest(method: "PUT", url: "A", headers: ["Content-Type": "text/plain"], body: [0xFF])
        #expect(error(invalid) == .invalidBody(contentType: "text/plain"))
    }

    @Test(arguments: [ODataVersion.v2, .v4])
    func `the batch is written as JSON only in V4, with version 4.01`(_ version: ODataVersion) throws {
        let exchange = try BatchExchange(
            BatchRequest(parts: [.query(WireRequest(method: "GET", url: "A"))]), version: version,
            options: ServiceOptions(batchFormat: .json), headers: ["OData-Version": "4.0"])
        let isJSON = exchange.request.headers["Content-Type"] == "application/json"
        #expect(isJSON == (version == .v4))
        #expect((exchange.request.headers["Accept"] == "application/json") == isJSON)
        #expect((exchange.request.headers["OData-Version"] == "4.01") == isJSON)
    }
}
