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

    @Test func `an unreadable batch with identifiers is refused with the rules that it breaks`() {
        let error = #expect(throws: RequestRefusal.self) {
            try BatchUpload(
                Array(#"{"requests":[{"repeatability-request-id":1}]}"#.utf8), contentType: "application/json",
                format: .json, limits: GatewayLimits())
        }
        #expect(error.map { "\($0)".contains("unique ids") } == true, "\(String(describing: error))")
    }
}
