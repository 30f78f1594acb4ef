import ODataWire
import SyncCore
import Testing

/// The interpretation of the heads of responses: whether the service may have processed a request.
struct ResponseKindTests {
    private let odata = Array(#"{"error":{"code":"c","message":"m"}}"#.utf8)

    private func response(_ status: Int, _ headers: HTTPHeaders = .empty, body: [UInt8] = []) -> WireResponse {
        WireResponse(status: status, headers: headers, body: body)
    }

    // MARK: Batches

    @Test(arguments: [
        (200, BatchResponseKind.parts), (202, .parts), (299, .parts), (300, .untouched), (302, .untouched),
        (400, .refused), (401, .untouched), (403, .untouched), (404, .untouched), (409, .refused), (412, .refused),
        (413, .refused), (422, .refused), (428, .refused), (429, .untouched), (499, .untouched), (500, .unknown),
        (501, .untouched), (502, .unknown), (503, .unknown), (504, .unknown), (599, .unknown),
    ])
    func `the status of a batch's response shows whether its parts were processed`(
        _ status: Int, _ kind: BatchResponseKind
    ) {
        #expect(BatchResponseKind(response(status)) == kind)
    }

    @Test func `a busy service has not processed a batch, but a gateway may have passed it on`() {
        #expect(BatchResponseKind(response(503, ["Retry-After": "3"])) == .untouched)
        #expect(BatchResponseKind(response(503, body: odata)) == .untouched)
        #expect(BatchResponseKind(response(503, body: Array("<html>busy</html>".utf8))) == .unknown)
        #expect(response(503).isFromGateway)
        #expect(!response(503, ["Retry-After": "3"]).isFromGateway)
        #expect(!response(502).isFromGateway)
    }

    @Test func `a batch is accepted if its response has a monitor and no parts`() {
        let accepted: HTTPHeaders = ["Location": "m"]
        #expect(BatchResponseKind(response(202, accepted), mayBeLater: true) == .accepted("m"))
        #expect(BatchResponseKind(response(202, accepted)) == .parts)
        #expect(BatchResponseKind(response(202), mayBeLater: true) == .parts)
        #expect(BatchResponseKind(response(200, accepted), mayBeLater: true) == .parts)
        let parts: HTTPHeaders = ["Location": "m", "Content-Type": "Multipart/Mixed; boundary=b"]
        #expect(BatchResponseKind(response(202, parts), mayBeLater: true) == .parts)
    }

    // MARK: Single requests

    @Test(arguments: [
        (200, SingleResponseKind.done, SingleResponseKind.done), (204, .done, .done), (302, .untouched, .untouched),
        (400, .refused, .refused), (401, .untouched, .untouched), (403, .untouched, .refused),
        (404, .refused, .refused), (407, .untouched, .untouched), (412, .refused, .refused), (429, .refused, .refused),
        (500, .unknown, .refused), (501, .unknown, .refused), (502, .unknown, .unknown), (503, .unknown, .refused),
        (504, .unknown, .unknown), (507, .unknown, .refused), (100, .refused, .refused),
    ])
    func `the status of a single response, and an OData error, show whether the request was processed`(
        _ status: Int, _ plain: SingleResponseKind, _ error: SingleResponseKind
    ) {
        #expect(SingleResponseKind(response(status)) == plain)
        #expect(SingleResponseKind(response(status, body: odata)) == error)
    }

    @Test(arguments: ["text/html", "Application/XHTML+xml", "multipart/mixed; boundary=b"])
    func `a page instead of an entity is of a component before the service`(_ type: String) {
        let page = Array("<html/>".utf8)
        #expect(SingleResponseKind(response(200, ["Content-Type": type], body: page)) == .foreign)
        #expect(SingleResponseKind(response(200, ["Content-Type": type])) == .done, "an empty body")
        for version in ["OData-Version", "DataServiceVersion"] {
            let headers = HTTPHeaders([("Content-Type", type), (version, "4.0")])
            #expect(SingleResponseKind(response(200, headers, body: page)) == .done)
        }
        #expect(SingleResponseKind(response(200, ["Content-Type": "application/json"], body: page)) == .done)
        #expect(SingleResponseKind(response(200, body: page)) == .done)
    }

    @Test func `a refusal that is no OData error is of a component before the service`() {
        #expect(response(403).isForeignRefusal)
        #expect(!response(401).isForeignRefusal)
        #expect(!response(403, body: odata).isForeignRefusal)
        #expect(!response(403, ["X-CSRF-Token": "required"]).isForeignRefusal)
        #expect(!response(403, ["WWW-Authenticate": "Basic"]).isForeignRefusal)
    }

    // MARK: Monitors

    @Test(arguments: [
        (202, MonitorResponseKind.notYet(nil)), (401, .unauthorized), (407, .unauthorized), (404, .gone), (410, .gone),
        (302, .failed), (400, .failed), (403, .failed), (500, .failed), (503, .failed),
    ])
    func `the status of a monitor's response shows whether the batch is finished`(
        _ status: Int, _ kind: MonitorResponseKind
    ) {
        #expect(MonitorResponseKind(response(status), now: 0) == kind)
    }

    @Test func `a monitor determines the pause`() {
        #expect(MonitorResponseKind(response(202, ["Retry-After": "7"]), now: 0) == .notYet(.seconds(7)))
    }

    @Test func `a monitor returns the response as a message, or with its status in a header`() {
        let message = Array("HTTP/1.1 400 Bad\r\nX: y\r\n\r\nno".utf8)
        let type: HTTPHeaders = ["Content-Type": "Application/HTTP"]
        let found = MonitorResponseKind(response(200, type, body: message), now: 0)
        guard case .done(let inner) = found else { return #expect(Bool(false), "\(found)") }
        #expect(inner.status == 400)
        #expect(inner.headers["X"] == "y")
        #expect(inner.body == Array("no".utf8))
        #expect(MonitorResponseKind(response(200, type, body: Array("no message".utf8)), now: 0) == .unreadable)
        let headers: HTTPHeaders = ["AsyncResult": "412"]
        #expect(MonitorResponseKind(response(200, headers), now: 0) == .done(response(412, headers)))
        for status in [200, 201, 299] {
            #expect(MonitorResponseKind(response(status), now: 0) == .done(response(status)))
        }
    }

    // MARK: Repetitions

    @Test func `the response to a repetition determines the outcomes that the service guarantees`() {
        let accepted = response(204, ["Repeatability-Result": "Accepted"])
        let former = response(204, ["RepeatabilityResult": "accepted"])
        let rejected = response(412, ["Repeatability-Result": "rejected"])
        let outcomes: [ChangeSetOutcome] = [
            .members([accepted, response(204)]), .members([response(204)]), .members([accepted, rejected]),
            .failed(accepted, culprit: nil), .failed(rejected, culprit: nil), .failed(response(400), culprit: nil),
            .notProcessed, .inDoubt("unclear"), .members([former]),
        ]
        let batch = UploadedBatch(
            number: 1, changeSets: outcomes.map { UploadedChangeSet(requests: [], outcome: $0) })
        func determined(_ places: [Int]) -> [UploadedChangeSet] { places.map { batch.changeSets[$0] } }
        let lenient = ResendOutcomes(batch)
        #expect(lenient.answered.changeSets == determined([0, 1, 3, 8]))
        #expect(lenient.skipped == [6])
        #expect(ResendOutcomes(batch, requiresResult: true).answered.changeSets == determined([0, 3, 8]))
    }
}
