import ODataWire
import Operations
import SyncCore

/// Batches that the service took to work on in its own time (OData 4.01 Part 1, 11.6). Where their answers are to be had is in
/// the log, so that an upload takes up what an earlier one, or an earlier run of the app, has left.
extension UploadRound {
    @_optimize(none)
    func takeUpAccepted(_ course: inout Course, _ report: inout UploadReport) async throws(TidelogError) {
        for open in try await store.openBatches() where open.monitor != nil {
            _ = try await finish(open, try await terms(course), &course, &report)
        }
    }

    /// Asks until the answer is there. False where that takes longer than anybody waits.
    @_optimize(none)
    func finish(
        _ open: OpenBatch, _ terms: Terms, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        guard let monitor = open.monitor else { return true }
        var waited = Duration.zero
        var delay = Duration.seconds(1)
        while true {
            let response = try await session.get(monitor, headers: ["Accept": "application/http"])
            switch MonitorAnswer(response) {
            case .notYet(let wish):
                let pause = max(wish ?? delay, .milliseconds(10))
                delay = min(delay * 2, .seconds(30))
                guard waited + pause <= upload.monitorPatience else { return false }
                try await wait(pause, for: open, monitor)
                waited += pause
            case .done(let response):
                try await take(response, of: open, terms, &course, &report)
                return true
            case .gone:
                let reason = "The service no longer knows the batch that it had accepted."
                try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
                throw TidelogError(
                    .inDoubt, reason, place: monitor,
                    recovery: "The operations are in doubt; the next upload finds out which of them took effect.")
            case .failed:
                try ServiceSession.check(response, "GET", session.absolute(monitor))
                return false
            }
        }
    }

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
            if answer?.isSuccess == true {
                let outcomes = open.prepared.operations.map {
                    BatchAnswered.Outcome(operation: $0, result: .notProcessed)
                }
                try await store.record([.batchAnswered(BatchAnswered(batch: open.batch, outcomes: outcomes))])
            }
            throw TidelogError(
                .cancelled, "The upload was cancelled while the service worked on a batch.", place: monitor,
                recovery: "Nothing is lost; the next upload goes on from here.")
        }
    }

    @_optimize(none)
    private func take(
        _ response: WireResponse, of open: OpenBatch, _ terms: Terms, _ course: inout Course,
        _ report: inout UploadReport
    ) async throws(TidelogError) {
        let places = Array(open.prepared.changeSets.indices)
        let plan = try await store.plan(of: open.prepared, places, options: terms.options)
        switch BatchAnswer(response) {
        case .parts: break
        case .refused, .untouched, .accepted:
            try await store.withdraw(open.batch, plan)
            // Asked at once, the service says of which part it is.
            if course.isImpatient { try ServiceSession.check(response, "POST", session.root + "$batch") }
            course.isImpatient = true
            return
        case .unknown:
            let reason = "The service answered the batch with status \(response.status)."
            try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
            try ServiceSession.check(response, "POST", session.root + "$batch")
        }
        let outcomes = try await outcomes(response, to: open.prepared.request(places), open.batch)
        let requests = open.prepared.sent.map { $0.map(\.request) }
        try await answer(open.batch, plan, requests, outcomes, terms, &course, &report)
    }
}

/// What a status monitor says.
enum MonitorAnswer: Equatable {
    /// Ask again, after so long if it says so.
    case notYet(Duration?)
    case done(WireResponse)
    /// There is no such monitor: the answer was fetched already, or the service has forgotten it.
    case gone
    /// The monitor itself could not be asked.
    case failed

    init(_ response: WireResponse) {
        switch response.status {
        case 202: self = .notYet(response.headers["Retry-After"].flatMap { Int($0) }.map { .seconds(max(0, $0)) })
        case 404, 410: self = .gone
        case 200..<300:
            if response.headers["Content-Type"]?.lowercased().hasPrefix("application/http") == true {
                self = HTTPMessage.response(response.body).map(MonitorAnswer.done) ?? .failed
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
