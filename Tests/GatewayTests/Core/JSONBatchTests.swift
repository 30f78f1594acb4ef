import GatewayCore
import ODataWire
import Testing

/// Batches in JSON whose responses are incomplete or failed.
struct JSONBatchTests {
    /// Returns a batch of two repeatable requests and an atomicity group.
    private func upload() throws -> BatchUpload {
        func headers(_ id: String) -> String {
            #"{"repeatability-request-id":"\#(id)","repeatability-first-sent":"Wed, 25 Nov 2026 10:00:00 GMT"}"#
        }
        let text =
            #"{"requests":[{"id":"1","method":"post","url":"Orders","headers":\#(headers("a")),"body":{}},{"id":"2","method":"post","url":"Orders","headers":\#(headers("b")),"body":{}},{"id":"3","atomicityGroup":"g","method":"post","url":"Orders","headers":\#(headers("c")),"body":{}}]}"#
        return try #require(
            try BatchUpload(Array(text.utf8), contentType: "application/json", format: .json, limits: GatewayLimits()))
    }

    private func outcomes(_ responses: String) throws -> [Int: BatchPartOutcome] {
        let response = WireResponse(
            status: 200, headers: ["Content-Type": "application/json"],
            body: Array(#"{"responses":[\#(responses)]}"#.utf8))
        return try #require(try upload().read(response, without: [])?.outcomes)
    }

    @Test func `requests after a failed one that have no response were not processed`() throws {
        let outcomes = try outcomes(#"{"id":"1","status":400}"#)
        #expect(outcomes[1] == .query(.notProcessed))
        #expect(outcomes[2] == .changeSet(.notProcessed))
    }

    @Test func `a request without a response is in doubt if no request has failed`() throws {
        guard case .query(.inDoubt) = try outcomes(#"{"id":"1","status":201}"#)[1] else {
            return #expect(Bool(false))
        }
    }

    @Test func `a dependency that failed after another failure was not processed`() throws {
        let outcomes = try outcomes(
            #"{"id":"1","status":400},{"id":"2","status":201},{"id":"3","atomicityGroup":"g","status":424}"#)
        #expect(outcomes[2] == .changeSet(.notProcessed))
    }

    @Test func `a failed dependency without another failure rejects its change set`() throws {
        let outcomes = try outcomes(
            #"{"id":"1","status":201},{"id":"2","status":201},{"id":"3","atomicityGroup":"g","status":424}"#)
        #expect(outcomes[2] == .changeSet(.failed(WireResponse(status: 424), culprit: "3")))
    }

    @Test func `the headers of a response are in the response to the batch`() throws {
        let created = WireResponse(status: 201, headers: ["Location": "Orders(1)", "ETag": "x"])
        let answer = try #require(try upload().answer([0: .single(created)]))
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains(#""headers":{"location":"Orders(1)","etag":"x"}"#), "\(text)")
    }

    @Test(
        arguments: [
            (nil, #"{"a":1}"#), ("application/json", #"{"a":1}"#),
            ("Application/JSON;odata.metadata=minimal", #"{"a":1}"#),
            ("application/json ; charset=utf-8", #"{"a":1}"#), ("application/problem+json; x=y", #"{"a":1}"#),
            ("text/plain;charset=utf-8", #""{\"a\":1}""#), ("application/jsonx", #""eyJhIjoxfQ==""#),
            ("image/png", #""eyJhIjoxfQ==""#),
        ] as [(String?, String)])
    func `a body is JSON, a text or base64url, according to its media type`(_ type: String?, _ body: String) throws {
        var response = WireResponse(status: 200, body: Array(#"{"a":1}"#.utf8))
        if let type { response.headers["Content-Type"] = type }
        response.headers["Content-Length"] = "7"
        let answer = try #require(try upload().answer([0: .single(response)]))
        let text = String(decoding: answer.body, as: UTF8.self)
        let headers = type.map { #","headers":{"content-type":"\#($0)"}"# } ?? ""
        #expect(text == #"{"responses":[{"id":"1","status":200\#(headers),"body":\#(body)}]}"#)
    }

    @Test func `the parts of a batch response end before the first one without a response`() throws {
        let response = WireResponse(status: 204)
        func answer(_ parts: [Int]) throws -> String {
            let answers = Dictionary(uniqueKeysWithValues: parts.map { ($0, BatchUpload.PartAnswer.single(response)) })
            return String(decoding: try #require(try upload().answer(answers)).body, as: UTF8.self)
        }
        let (first, second) = (#"{"id":"1","status":204}"#, #"{"id":"2","status":204}"#)
        #expect(try answer([]) == #"{"responses":[]}"#)
        #expect(try answer([0, 2]) == #"{"responses":[\#(first)]}"#)
        #expect(
            try answer([0, 1, 2])
                == #"{"responses":[\#(first),\#(second),{"id":"g","atomicityGroup":"g","status":204}]}"#)
    }

    @Test func `an unreadable batch with identifiers is refused with the rules that it breaks`() {
        let error = #expect(throws: RequestRefusal.self) {
            try BatchUpload(
                Array(#"{"requests":[{"repeatability-request-id":1}]}"#.utf8), contentType: "application/json",
                format: .json, limits: GatewayLimits())
        }
        #expect(error.map { "\($0)".contains("unique ids") } == true, "\(String(describing: error))")
    }
}
