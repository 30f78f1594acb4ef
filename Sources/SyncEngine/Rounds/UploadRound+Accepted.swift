import ODataWire
import Operations
import SyncCore

/// Batches that the service took to work on in its own time (OData 4.01 Part 1, 11.6). Where their answers are to be had is in
/// the log, so that an upload takes up what an earlier one, or an earlier run of the app, has left.
extension UploadRound {
    @_optimize(none)
    func takeUpAccepted(_ course: inout Course, _ report: inout UploadReport) async throws(TidelogError) {
        for open in try await store.openBatches() where open.monitor != nil {
            do throws(TidelogError) {
                _ = try await finish(open, try await terms(course), &course, &report)
            } catch {
                // What is in doubt now is settled with the rest, and is no reason to leave the others unsent.
                guard error.code == .inDoubt else { throw error }
            }
        }
    }

    /// Asks until the answer is there. Returns whether anything has ended or is to be planned anew: not where it takes longer
    /// than anybody waits, and not where the service has left everything undone.
    @_optimize(none)
    func finish(
        _ open: OpenBatch, _ terms: Terms, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        guard let monitor = open.monitor else { return true }
        var waited = Duration.zero
        var delay = Duration.seconds(1)
        while true {
            let response = try await ask(monitor, of: open)
            switch MonitorAnswer(response, now: store.environment.now()) {
            case .notYet(let wish):
                // A service that asks for no time at all is not asked without end either.
                let pause = max(wish ?? delay, .seconds(1))
                delay = min(delay * 2, .seconds(30))
                guard waited + pause <= upload.monitorPatience else { return false }
                try await wait(pause, for: open, monitor)
                waited += pause
            case .done(let response):
                return try await take(response, of: open, terms, &course, &report)
            case .gone: throw try await doubt(open, "The service no longer knows the batch that it had accepted.")
            case .unreadable: throw try await doubt(open, "The answer to the batch that was accepted cannot be read.")
            case .failed where FailureClass(status: response.status) == .permanent:
                throw try await doubt(
                    open, "The service tells no more of the batch that it had accepted (status \(response.status)).")
            case .failed, .unauthorized:
                try ServiceSession.check(response, "GET", place(of: monitor))
                return false
            }
        }
    }

    @_optimize(none)
    private func ask(_ monitor: String, of open: OpenBatch) async throws(TidelogError) -> WireResponse {
        do throws(TidelogError) {
            return try await session.get(monitor, headers: ["Accept": "application/http"])
        } catch {
            // No URL at all: no later upload would get any further.
            guard error.code == .invalidRequest else { throw error }
            throw try await doubt(open, "The address of the answer to the batch cannot be requested.")
        }
    }

    /// Logs that nobody will learn what became of the batch from its monitor. Returns the error that says so.
    @_optimize(none)
    private func doubt(_ open: OpenBatch, _ reason: String) async throws(TidelogError) -> TidelogError {
        try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
        return TidelogError(
            .inDoubt, reason, place: open.monitor.map(place),
            recovery: "The operations are in doubt; the next upload finds out which of them took effect.")
    }

    /// As errors may show it.
    private func place(of monitor: String) -> String { URLText.withoutSecrets(session.absolute(monitor)) }

    /// Who cancels the upload meanwhile wants the batch cancelled too, if the service still can.
    @_optimize(none)
    private func wait(
        _ pause: Duration, for open: OpenBatch, _ monitor: String
    ) async throws(TidelogError) {
        do throws(CancellationError) {
            try await store.environment.sleep(pause)
        } catch {
            // In a task of its own: the one that runs here sends nothing any more.
            let session = session
            let answer = await Task { try? await session.modify(WireRequest(method: "DELETE", url: monitor)) }.value
            // Where the service refuses to cancel, or only begins to (202), the monitor goes on telling what becomes of it.
            if let answer, answer.isSuccess, answer.status != 202 {
                // A batch is no transaction: nothing says that what was done of it before is taken back.
                let reason = "The batch was cancelled while the service worked on it."
                try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
            }
            throw TidelogError(
                .cancelled, "The upload was cancelled while the service worked on a batch.", place: place(of: monitor),
                recovery: "Nothing is lost; the next upload goes on from here.")
        }
    }

    /// Returns whether anything has ended, or is to be sent in another way.
    @_optimize(none)
    private func take(
        _ response: WireResponse, of open: OpenBatch, _ terms: Terms, _ course: inout Course,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        let places = Array(open.prepared.changeSets.indices)
        let plan = try await store.plan(of: open.prepared, places, options: terms.options)
        switch BatchAnswer(response) {
        case .parts: break
        case .refused, .untouched, .accepted:
            try await store.withdraw(open.batch, plan)
            // Asked at once, the service says of which part it is.
            if course.isImpatient { try ServiceSession.check(response, "POST", session.root + "$batch") }
            course.isImpatient = true
            return true
        case .unknown:
            let reason = "The service answered the batch with status \(response.status)."
            try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
            try ServiceSession.check(response, "POST", session.root + "$batch")
        }
        let outcomes = try await outcomes(response, to: open.prepared.request(places), open.batch)
        let requests = open.prepared.sent.map { $0.map(\.request) }
        let results = try await answer(open.batch, plan, requests, outcomes, terms, &course, &report)
        return results.contains { $0.result != .notProcessed }
    }
}

/// What a status monitor says.
enum MonitorAnswer: Equatable {
    /// Ask again, after so long if it says so.
    case notYet(Duration?)
    case done(WireResponse)
    /// There is no such monitor: the answer was fetched already, or the service has forgotten it.
    case gone
    /// There is an answer, but not one that says anything of the batch.
    case unreadable
    /// The service wants other credentials, for this as for anything else.
    case unauthorized
    /// The monitor itself could not be asked.
    case failed

    /// - Parameter now: what a date in `Retry-After` is held against.
    init(_ response: WireResponse, now: Timestamp) {
        switch response.status {
        case 202: self = .notYet(RetryAfter.delay(response.headers, now: now))
        case 401, 407: self = .unauthorized
        case 404, 410: self = .gone
        case 200..<300:
            if response.headers["Content-Type"]?.lowercased().hasPrefix("application/http") == true {
                self = HTTPMessage.response(response.body).map(MonitorAnswer.done) ?? .unreadable
            } else {
                var answer = response
                answer.status = response.headers["AsyncResult"].flatMap { Int($0) } ?? response.status
                self = .done(answer)
            }
        default: self = .failed
        }
    }
}

extension BatchPrepared {
    /// The change sets at these places, as far as their answers are found by: by Content-ID and place.
    func request(_ places: [Int]) -> BatchRequest {
        BatchRequest(
            parts: places.map { place in
                var members: [BatchPart.Member] = []
                for request in changeSets[place] where members.last?.contentID != request.contentID {
                    let sent =
                        place < self.sent.count
                        ? self.sent[place].first { $0.contentID == request.contentID }?.request : nil
                    members.append(
                        BatchPart.Member(
                            contentID: request.contentID, request: sent ?? WireRequest(method: "POST", url: "$")))
                }
                return .changeSet(members)
            })
    }
}
