import ODataWire
import Operations
import SyncCore
import Testing

/// The decisions of an upload to a service without batches.
struct SingleRequestSessionTests {
    /// Begins an upload with a plan of one request, up to the first command after it.
    private func session(suspects: Set<SequenceNumber> = []) throws -> UploadScript {
        try UploadScript(planning: 1, suspects: suspects) { $0.supportsBatch = false }
    }

    @Test func `the response to one request does not confirm an operation of several requests`() throws {
        var script = try session()
        script.prepare(requests: 2)
        #expect(script.next == "answer")
    }

    @Test(arguments: [
        (204, "", "answer members"), (409, "", "answer failed"), (403, "", "probe"), (401, "", "withdraw 1"),
        (500, #"{"error":{"code":"c","message":"m"}}"#, "answer failed"), (500, "", "interrupt 1"),
        (502, "", "interrupt 1"), (503, "", "interrupt 1"),
        (503, #"{"error":{"code":"c","message":"m"}}"#, "answer failed"),
    ])
    func `a response to a single request leads to one command`(
        _ status: Int, _ body: String, _ expected: String
    ) throws {
        var script = try session()
        script.prepare()
        script.handle(.response(WireResponse(status: status, body: Array(body.utf8))))
        #expect(script.next == expected)
    }

    @Test func `a service without batches that defers an operation for the first time ends the upload`() throws {
        for isFirst in [true, false] {
            var script = try UploadScript { $0.supportsBatch = false }
            script.begin(deferred: isFirst ? [:] : [1: 1])
            script.plan(1)
            script.prepare()
            script.handle(.response(WireResponse(status: 429)))
            script.answer(.deferred(script.refusal, attempts: 1))
            #expect(script.next == (isFirst ? "finish" : "resolveConflicts"))
        }
    }

    @Test func `a suspect that the service redirects to a result is in doubt, not rejected`() throws {
        var script = try session(suspects: [1])
        script.prepare()
        script.handle(
            .response(WireResponse(status: 303, body: Array(#"{"error":{"code":"c","message":"m"}}"#.utf8))))
        #expect(script.next == "answer inDoubt")
    }

    @Test func `a stream whose content is lost is refused and does not block other operations`() throws {
        var script = try session()
        script.prepare(writesStream: true)
        script.handle(.failed(TestFailure(isOfLostContent: true)))
        #expect(script.next == "answer failed")
    }

    @Test(arguments: [(true, true, true), (false, false, true), (false, true, false)])
    func `an error refuses only the single request of a stream, and only if its content is lost`(
        _ supportsBatch: Bool, _ writesStream: Bool, _ isOfLostContent: Bool
    ) throws {
        var script = try UploadScript(planning: 1) { $0.supportsBatch = supportsBatch }
        script.prepare(writesStream: writesStream)
        script.handle(.failed(TestFailure(isOfLostContent: isOfLostContent)))
        #expect(script.next == "withdraw 1")
    }

    @Test(arguments: [true, false])
    func `after a page instead of a response, the upload ends, or a suspect is in doubt`(_ isSuspect: Bool) throws {
        var script = try session(suspects: isSuspect ? [1] : [])
        script.prepare()
        let page = WireResponse(
            status: 200, headers: ["Content-Type": "text/html"], body: Array("<html/>".utf8))
        script.handle(.response(page))
        #expect(script.next == (isSuspect ? "answer inDoubt" : "interrupt 1"))
    }

    @Test func `a single request that succeeds ends a series of refused batches`() throws {
        var script = try UploadScript()
        script.begin()
        var modification = DataModification(.delete(.url("Orders(1)")))
        modification.stream = StreamHead(mediaType: "image/png")
        let request = PlannedRequest(contentID: "1", operation: 1, modification: modification, creates: nil)
        let plan = UploadPlan(changeSets: [PlannedChangeSet(requests: [request])])
        script.handle(.planned(plan, since: 1, script.profile))
        script.prepare()
        script.handle(.response(WireResponse(status: 204)))
        #expect(script.next == "answer members")
        script.answer(.confirmed(images: []))
        script.handle(.conflicts(hasResolved: false))
        for _ in 1...2 {
            script.plan(1)
            script.refuse()
            #expect(script.next == "answer failed")
            script.answer(.rejected(script.refusal))
            script.handle(.conflicts(hasResolved: false))
        }
    }
}
