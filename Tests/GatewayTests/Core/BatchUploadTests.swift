import GatewayCore
import ODataWire
import Testing

struct BatchUploadTests {
    private let roots = ServiceRoots(
        published: ServiceRoot("https://gw.example/odata/shop/")!, origin: ServiceRoot("http://backend:8000/sap/SHOP/")!
    )

    private func identified(_ method: String, _ url: String, _ id: String, _ body: String = "") -> WireRequest {
        WireRequest(
            method: method, url: url,
            headers: [
                "Repeatability-Request-ID": id, "Repeatability-First-Sent": "Wed, 25 Nov 2026 10:00:00 GMT",
                "Repeatability-Client-ID": "c", "Content-Type": "application/json",
            ], body: Array(body.utf8))
    }

    private var batch: BatchRequest {
        BatchRequest(parts: [
            .changeSet([
                .init(contentID: "1", request: identified("POST", "Orders", "a", #"{"ID":1}"#)),
                .init(contentID: "2", request: identified("POST", "$1/Lines", "b", #"{"ID":2}"#)),
            ]),
            .query(WireRequest(method: "GET", url: "Orders")),
            .changeSet([.init(contentID: "3", request: identified("PATCH", "$1", "c", #"{"Note":"x"}"#))]),
        ])
    }

    private func upload(_ batch: BatchRequest) throws -> BatchUpload? {
        let body = try MultipartBatchWriter().write(batch, boundary: "b", changeSetBoundary: { "c\($0)" })
        return try BatchUpload(
            body, contentType: "multipart/mixed; boundary=b", format: .multipart, limits: GatewayLimits())
    }

    @Test func `each change set with identifiers is a unit`() throws {
        let upload = try #require(try upload(batch))
        #expect(upload.units.map(\.part) == [0, 2])
        #expect(upload.units.map { $0.identifiers.map(\.request) } == [["a", "b"], ["c"]])
        #expect(try self.upload(BatchRequest(parts: [batch.parts[1]])) == nil)
    }

    @Test func `the rest of a batch refers to entities that exist already by their URLs`() throws {
        let upload = try #require(try upload(batch))
        let (body, contentType) = try #require(
            upload.remaining(without: [0], locations: ["1": "http://backend:8000/sap/SHOP/Orders(7)"]))
        let rest = try MultipartBatchReader().readRequest(body, contentType: contentType)
        #expect(rest.parts.count == 2)
        guard case .changeSet(let members) = rest.parts[1] else { return #expect(Bool(false)) }
        #expect(members[0].request.url == "http://backend:8000/sap/SHOP/Orders(7)")
        #expect(upload.remaining(without: [0], locations: [:]) == nil)
    }

    @Test func `a path after a reference to an omitted request is kept`() throws {
        let upload = try #require(
            try upload(
                BatchRequest(parts: [
                    .changeSet([.init(contentID: "1", request: identified("POST", "Orders", "a"))]),
                    .changeSet([.init(contentID: "2", request: identified("POST", "$1/Lines", "b"))]),
                ])))
        let (body, contentType) = try #require(upload.remaining(without: [0], locations: ["1": "Orders(7)"]))
        let rest = try MultipartBatchReader().readRequest(body, contentType: contentType)
        guard case .changeSet(let members) = rest.parts[0] else { return #expect(Bool(false)) }
        #expect(members[0].request.url == "Orders(7)/Lines")
    }

    @Test func `a part of a batch without a request stays as it is`() {
        let text = "--b\r\nContent-Type: application/http\r\n\r\n\r\n--b--\r\n"
        let output = BatchLinks.rewrite(Array(text.utf8), contentType: "multipart/mixed; boundary=b", roots, .request)
        #expect(String(decoding: output, as: UTF8.self) == text)
    }

    @Test func `answers of the ledger and of the service are put in the order of the request`() throws {
        let upload = try #require(try upload(batch))
        let created = WireResponse(status: 201, headers: ["Location": "x"], body: Array("{}".utf8))
        let answer = try #require(
            upload.answer([
                0: .unit(.members([created, created])), 1: .single(WireResponse(status: 200, body: Array("[]".utf8))),
                2: .unit(.failed(WireResponse(status: 412), culprit: 0)),
            ]))
        let read = try MultipartBatchReader().readResponse(
            answer.body, contentType: answer.headers["Content-Type"] ?? "")
        let outcomes = BatchMatcher(request: upload.batch, response: read).outcomes()
        #expect(
            outcomes == [
                .changeSet(
                    .members(
                        [created, created].map { response in
                            var response = response
                            response.headers["Content-Length"] = "2"
                            return response
                        })),
                .query(.answered(WireResponse(status: 200, headers: ["Content-Length": "2"], body: Array("[]".utf8)))),
                .changeSet(.failed(WireResponse(status: 412), culprit: "3")),
            ])
    }

    @Test func `an incomplete identification is refused, an unreadable batch without identifiers is passed on`() throws
    {
        var bad = identified("POST", "Orders", "a")
        bad.headers["Repeatability-First-Sent"] = "yesterday"
        let mixed = BatchRequest(parts: [
            .changeSet([
                .init(contentID: "1", request: identified("POST", "Orders", "a")),
                .init(contentID: "2", request: WireRequest(method: "POST", url: "Orders")),
            ])
        ])
        for batch in [BatchRequest(parts: [.changeSet([.init(contentID: "1", request: bad)])]), mixed] {
            let error = #expect(throws: RequestRefusal.self) { try upload(batch) }
            #expect(error?.headers["Repeatability-Result"] == "rejected")
        }
        #expect(
            try BatchUpload(
                Array("garbage".utf8), contentType: "multipart/mixed", format: .multipart, limits: GatewayLimits())
                == nil)
        #expect(throws: RequestRefusal.self) {
            try BatchUpload(
                Array("garbage Repeatability-REQUEST-id: 1".utf8), contentType: "multipart/mixed", format: .multipart,
                limits: GatewayLimits())
        }
    }

    @Test func `links in a batch are rewritten and lengths corrected, other bytes stay`() throws {
        let text =
            "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 201 Created\r\nLocation: http://backend:8000/sap/SHOP/A(1)\r\nContent-Type: application/json\r\nContent-Length: 56\r\n\r\n{\"@odata.id\":\"http://backend:8000/sap/SHOP/A(1)\",\"b\":1}x\r\n--b--\r\n"
        let output = BatchLinks.rewrite(Array(text.utf8), contentType: "multipart/mixed; boundary=b", roots, .response)
        #expect(
            String(decoding: output, as: UTF8.self)
                == text.replacing("http://backend:8000/sap/SHOP/", with: "https://gw.example/odata/shop/")
                .replacing("Content-Length: 56", with: "Content-Length: 57"))
        let request =
            "--b\r\nContent-Type: application/http\r\n\r\nGET /odata/shop/A(1) HTTP/1.1\r\nHost: gw.example\r\n\r\n\r\n--b--\r\n"
        let sent = BatchLinks.rewrite(Array(request.utf8), contentType: "multipart/mixed; boundary=b", roots, .request)
        #expect(
            String(decoding: sent, as: UTF8.self)
                == request.replacing("/odata/shop/A", with: "/sap/SHOP/A").replacing(
                    "Host: gw.example", with: "Host: backend:8000"))
    }

    @Test func `a JSON batch is split by its ids`() throws {
        let headers =
            #"{"repeatability-request-id":"ID","repeatability-first-sent":"Wed, 25 Nov 2026 10:00:00 GMT","content-type":"application/json"}"#
        let text =
            #"{"requests":[{"id":"1","atomicityGroup":"g","method":"post","url":"Orders","headers":\#(headers.replacing("ID", with: "a")),"body":{"n":1.50}},{"id":"2","dependsOn":["g"],"method":"patch","url":"Orders(1)","headers":\#(headers.replacing("ID", with: "b")),"body":{}}]}"#
        let upload = try #require(
            try BatchUpload(Array(text.utf8), contentType: "application/json", format: .json, limits: GatewayLimits()))
        #expect(upload.units.map(\.part) == [0, 1])
        let rest = try #require(upload.remaining(without: [0], locations: [:]))
        #expect(String(decoding: rest.body, as: UTF8.self).contains(#""dependsOn":[]"#))
        let response = WireResponse(
            status: 200, headers: ["Content-Type": "application/json"],
            body: Array(
                #"{"responses":[{"id":"2","status":204},{"id":"1","atomicityGroup":"g","status":201,"body":{"n":1.50}}]}"#
                    .utf8))
        let outcomes = try #require(upload.read(response, without: [])?.outcomes)
        #expect(outcomes[1] == .query(.answered(WireResponse(status: 204))))
        guard case .changeSet(.members(let created)) = outcomes[0] else { return #expect(Bool(false)) }
        let answer = try #require(upload.answer([0: .unit(.members(created)), 1: .single(WireResponse(status: 412))]))
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"responses":[{"id":"1","atomicityGroup":"g","status":201,"body":{"n":1.50}},{"id":"2","status":412}]}"#
        )
    }
}
