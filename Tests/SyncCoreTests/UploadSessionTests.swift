import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The decisions of an upload, for each response and each error, without a transport or a store.
struct UploadSessionTests {
    private func session(
        _ count: Int, suspects: Set<SequenceNumber> = [], _ change: (inout ServiceOptions) -> Void = { _ in }
    ) throws -> UploadScript {
        try UploadScript(planning: count, suspects: suspects, change)
    }

    // MARK: Order

    @Test func `an upload polls accepted batches, resolves doubts, reads the queue and plans`() throws {
        var script = try UploadScript()
        #expect(script.next == "begin")
        script.handle(.accepted([4, 7]))
        #expect(script.next == "poll 4")
        script.handle(.polled(nil))
        #expect(script.next == "poll 7")
        script.handle(.polled(nil))
        #expect(script.next == "resolveInDoubt")
        script.handle(.resolved(InDoubtReport(released: [], knowledge: UploadKnowledge())))
        #expect(script.next == "readQueue")
        script.handle(.queue(UploadQueue()))
        #expect(script.next == "resolveConflicts")
        script.handle(.conflicts(hasResolved: true))
        #expect(script.next == "plan")
        script.plan(2)
        #expect(script.next == "prepare 1 2")
        script.prepare()
        #expect(script.next == "send 1 2")
    }

    @Test func `operations that this upload has already seen refused are not sent again`() throws {
        var script = try UploadScript(excluding: [1])
        script.handle(.accepted([]))
        script.handle(.resolved(InDoubtReport(released: [], knowledge: UploadKnowledge())))
        var queue = UploadQueue()
        (queue.refused, queue.deferred, queue.inDoubt, queue.ended) = ([1, 2, 3], [4: 2], [5], [3])
        script.handle(.queue(queue))
        script.handle(.conflicts(hasResolved: false))
        guard case .plan(let retrying, _) = script.session.next else { throw Unexpected(script.next) }
        #expect(retrying == [2, 4, 5])
    }

    @Test func `an empty plan ends the upload after another look at conflicts, monitors and keys`() throws {
        var script = try UploadScript()
        script.begin()
        script.handle(.planned(script.emptyPlan(awaiting: 9), since: 1, script.profile))
        #expect(script.next == "resolveConflicts")
        script.handle(.conflicts(hasResolved: false))
        #expect(script.next == "listAccepted")
        script.handle(.accepted([]))
        #expect(script.next == "readNeighborKeys 9")
        script.handle(.neighborKeys(hasFound: false, sought: [EntityID(rawValue: 9)]))
        #expect(script.next == "finish")
    }

    @Test func `a conflict that is resolved after an empty plan leads to another plan`() throws {
        var script = try UploadScript()
        script.begin()
        script.handle(.planned(UploadPlan(), since: 1, script.profile))
        script.handle(.conflicts(hasResolved: true))
        #expect(script.next == "resolveConflicts")
        script.handle(.conflicts(hasResolved: false))
        #expect(script.next == "plan")
    }

    @Test func `operations that cancel each other out are logged before the next plan`() throws {
        var script = try UploadScript()
        script.begin()
        var plan = UploadPlan()
        plan.elided = [3, 4]
        script.handle(.planned(plan, since: 1, script.profile))
        #expect(script.next == "elide 3 4")
        script.handle(.done)
        #expect(script.next == "resolveConflicts")
    }

    @Test func `an outdated plan is made again, and one that is too large is split`() throws {
        var script = try session(3)
        script.handle(.prepared(.tooLarge))
        #expect(script.next == "prepare 1")
        script.handle(.prepared(.outdated))
        #expect(script.next == "resolveConflicts")
    }

    // MARK: Batches

    /// The command after a response to a batch with two change sets, and with one.
    @Test(arguments: [
        (202, "Location", "accept 1 m", "accept 1 m"),
        (400, "", "withdraw 1 2", "answer failed"), (413, "", "withdraw 1 2", "answer failed"),
        (401, "", "withdraw 1 2", "withdraw 1"), (404, "", "withdraw 1 2", "withdraw 1"),
        (403, "", "probe", "probe"), (403, "WWW-Authenticate", "withdraw 1 2", "withdraw 1"),
        (500, "", "interrupt 1", "interrupt 1"), (504, "", "interrupt 1", "interrupt 1"),
        (501, "", "withdraw 1 2", "withdraw 1"), (503, "", "interrupt 1", "interrupt 1"),
        (503, "Retry-After", "withdraw 1 2", "withdraw 1"), (200, "", "interrupt 1", "interrupt 1"),
    ])
    func `a response to a batch leads to one command`(
        _ status: Int, _ header: String, _ two: String, _ one: String
    ) throws {
        for (count, expected) in [(2, two), (1, one)] {
            var script = try session(count)
            script.prepare()
            var headers = HTTPHeaders()
            if !header.isEmpty { headers[header] = header == "Location" ? "m" : "1" }
            script.handle(.response(WireResponse(status: status, headers: headers)))
            #expect(script.next == expected, "\(count) change sets")
        }
    }

    @Test func `a refused batch is halved until the change set is alone`() throws {
        var script = try session(4)
        script.refuse()
        #expect(script.next == "withdraw 1 2 3 4")
        script.handle(.done)
        #expect(script.next == "prepare 1 2")
        script.refuse()
        script.handle(.done)
        #expect(script.next == "prepare 1")
        script.refuse()
        #expect(script.next == "answer failed")
        script.answer(.rejected(script.refusal))
        // The other operations have to be planned again, since the rejected one may have changed their meaning.
        #expect(script.next == "resolveConflicts")
    }

    @Test func `a service that refuses every batch ends the upload, unless it is known to answer batches`() throws {
        for answersParts in [true, false] {
            var script = try UploadScript()
            script.begin()
            for _ in 1...2 {
                script.plan(1)
                script.refuse()
                #expect(script.next == "answer failed")
                script.answer(.rejected(script.refusal))
                script.handle(.conflicts(hasResolved: false))
            }
            script.plan(1)
            script.refuse()
            #expect(script.next == "probe")
            script.handle(.probed(answersParts: answersParts))
            #expect(script.next == (answersParts ? "answer failed" : "withdraw 1"))
            if !answersParts {
                script.handle(.done)
                #expect(script.next == "fail 400 batch")
            }
        }
    }

    @Test func `a firewall's refusal concerns the content if the service answers other requests`() throws {
        for answersParts in [true, false] {
            var script = try session(1)
            script.prepare()
            script.handle(.response(WireResponse(status: 403)))
            #expect(script.next == "probe")
            script.handle(.probed(answersParts: answersParts))
            #expect(script.next == (answersParts ? "answer failed" : "withdraw 1"))
        }
    }

    @Test func `a header that cannot be sent refuses only its change set`() throws {
        let obstacle = try #require(
            HTTPHeaders([("A", "b\nc")]).obstacle(inBatch: true))
        var script = try session(2)
        script.prepare(obstacle)
        #expect(script.next == "withdraw 1 2")
        script.handle(.done)
        #expect(script.next == "prepare 1")
        script.prepare(obstacle)
        #expect(script.next == "answer failed")
    }

    // MARK: Errors

    @Test func `an error withdraws a request that was not sent, and leaves one in doubt that may have been`() throws {
        for mayHaveReachedService in [true, false] {
            var script = try session(2)
            script.prepare()
            script.handle(.failed(TestFailure(mayHaveReachedService: mayHaveReachedService)))
            #expect(script.next == (mayHaveReachedService ? "interrupt 1" : "withdraw 1 2"))
            script.handle(.done)
            #expect(script.next == "fail lost")
        }
    }

    @Test func `operations that made a batch fail before are sent in parts of half their number`() throws {
        var script = try UploadScript()
        script.begin(suspects: [1, 2, 3, 4])
        script.plan(6)
        #expect(script.next == "prepare 1 2")
        script.confirmAll()
        #expect(script.next == "prepare 3 4")
        script.confirmAll()
        #expect(script.next == "prepare 5 6")
    }

    @Test(arguments: [500, 504])
    func `a change set that fails again while it is alone stays in doubt, and the others are sent`(
        _ status: Int
    ) throws {
        var script = try session(2, suspects: [1])
        #expect(script.next == "prepare 1")
        script.prepare()
        script.handle(.response(WireResponse(status: status)))
        #expect(script.next == "answer inDoubt")
        script.answer(.inDoubt("again"))
        #expect(script.next == "resolveConflicts")
        script.handle(.conflicts(hasResolved: false))
        script.finishPlanning()
        // A gateway that fails may answer a later upload, so the error is thrown. A lasting error concerns the request.
        #expect(script.next == (status == 504 ? "finish 504 batch" : "finish"))
    }

    @Test func `a suspect without any answer stays in doubt, unless the upload was cancelled`() throws {
        for isCancellation in [true, false] {
            var script = try session(1, suspects: [1])
            script.prepare()
            script.handle(
                .failed(TestFailure(mayHaveReachedService: true, isCancellation: isCancellation)))
            #expect(script.next == (isCancellation ? "interrupt 1" : "answer inDoubt"))
        }
    }

    // MARK: Monitors

    @Test func `a batch in progress is polled with growing pauses until the patience is exhausted`() throws {
        var script = try UploadScript(patience: .seconds(10))
        script.begin()
        script.handle(.planned(UploadPlan(), since: 1, script.profile))
        script.handle(.conflicts(hasResolved: false))
        script.handle(.accepted([5]))
        var commands: [String] = []
        for _ in 0..<7 {
            commands.append(script.next)
            guard script.next.hasPrefix("poll") || script.next.hasPrefix("wait") else { break }
            script.handle(
                script.next.hasPrefix("wait")
                    ? .done : .polled(script.report(.response(WireResponse(status: 202)))))
        }
        #expect(
            commands == [
                "poll 5", "wait 1.0 seconds", "poll 5", "wait 2.0 seconds", "poll 5", "wait 4.0 seconds", "poll 5",
            ])
        #expect(script.next == "finish")
    }

    /// The command after a poll at the beginning of an upload, and whether later batches are sent synchronously.
    @Test(arguments: [
        (TestPoll.gone, 0, "interrupt 5"), (.unauthorized, 100_000_000, "resolveInDoubt"),
        (.unavailable, 1_000, "resolveInDoubt"), (.unavailable, 86_400_001, "interrupt 5"),
        (.unavailable, -1, "interrupt 5"), (.forbidden, 1_000, "resolveInDoubt"), (.forbidden, 600_001, "interrupt 5"),
        (.foreign, 1_000, "resolveInDoubt"), (.foreign, 600_001, "interrupt 5"),
        (.silent, 100_000_000, "resolveInDoubt"),
        (.cancelled, 0, "fail lost"), (.refusedBatch, 0, "withdraw 5"), (.unknownBatch, 0, "interrupt 5"),
    ])
    func `a monitor without a response leaves its batch time before it is in doubt`(
        _ poll: TestPoll, _ age: Int64, _ expected: String
    ) throws {
        var script = try UploadScript()
        script.handle(.accepted([5]))
        script.handle(.polled(script.report(poll.answer, age: age)))
        #expect(script.next == expected)
    }

    @Test func `a batch whose monitor did not answer is not polled again by the same upload`() throws {
        var script = try UploadScript()
        script.handle(.accepted([5]))
        script.handle(.polled(script.report(TestPoll.silent.answer)))
        script.handle(.resolved(InDoubtReport(released: [], knowledge: UploadKnowledge())))
        script.handle(.queue(UploadQueue()))
        script.handle(.conflicts(hasResolved: false))
        script.handle(.planned(UploadPlan(), since: 1, script.profile))
        script.handle(.conflicts(hasResolved: false))
        script.handle(.accepted([5]))
        #expect(script.next == "finish lost")
    }

    @Test func `a batch that was sent twice is resolved by reading if the response does not determine its outcome`()
        throws
    {
        var script = try UploadScript()
        script.handle(.accepted([5]))
        script.handle(.polled(script.report(TestPoll.refusedBatch.answer, isRepeated: true)))
        #expect(script.next == "interrupt 5")
        script.handle(.done)
        #expect(script.next == "resolveInDoubt")
    }

    @Test func `a late refusal of references leads to one trial of a simpler form`() throws {
        var script = try UploadScript()
        script.handle(.accepted([5, 5]))
        var report = script.report(.response(WireResponse(status: 200)))
        var link = UploadedRequest(contentID: "2", operation: 2, effect: .link)
        link.references.hasContentIDInBody = true
        report.batch.changeSets[0].requests.append(link)
        let body =
            "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n\r\n--b--\r\n"
        report.answer = .response(
            WireResponse(
                status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"], body: Array(body.utf8)))
        for expected: [SequenceNumber: BatchAnswered.Result] in [[1: .notProcessed, 2: .notProcessed], [:]] {
            script.handle(.polled(report))
            guard case .answer(let answer) = script.session.next else { throw Unexpected(script.next) }
            #expect(answer.amended == expected)
            script.answer(expected.isEmpty ? .rejected(script.refusal) : .notProcessed)
        }
        #expect(script.next == "resolveInDoubt")
    }
}
