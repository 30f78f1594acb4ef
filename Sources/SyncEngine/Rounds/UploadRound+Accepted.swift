import ODataWire
import Operations
import SyncCore
import Transport

/// Batches that the service took to work on in its own time (OData 4.01 Part 1, 11.6). Where their answers are to be had is in
/// the log, so that an upload takes up what an earlier one, or an earlier run of the app, has left.
///
/// Nothing else waits for them: what does not depend on them is sent first, and a monitor that cannot be asked ends the upload
/// only when everything else is done.
extension UploadRound {
    /// Asks for each of them once, without waiting.
    @_optimize(none)
    func takeUpAccepted(_ course: inout Course, _ report: inout UploadReport) async throws(TidelogError) {
        for open in try await store.openBatches() where open.monitor != nil {
            switch try await look(at: open, &course, &report) {
            // What is in doubt now is settled with the rest, and is no reason to leave the others unsent.
            case .ended, .notYet, .doubtful: break
            case .unanswered(let error): course.obstacle = course.obstacle ?? error
            }
        }
    }

    /// Waits for them, as long as the upload has patience. Returns whether anything has ended or is to be planned anew.
    @_optimize(none)
    func awaitAccepted(_ course: inout Course, _ report: inout UploadReport) async throws(TidelogError) -> Bool {
        for open in try await store.openBatches() where open.monitor != nil {
            if try await awaitAnswer(to: open, &course, &report) { return true }
        }
        return false
    }

    @_optimize(none)
    private func awaitAnswer(
        to open: OpenBatch, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        while !course.unanswered.contains(open.batch) {
            if let pause = course.pauses[open.batch]?.next {
                guard course.waited + pause <= upload.monitorPatience else { return false }
                try await wait(pause, for: open)
                course.waited += pause
            }
            switch try await look(at: open, &course, &report) {
            case .ended(let hasMoved): return hasMoved
            case .notYet: continue
            case .doubtful(let error):
                course.obstacle = course.obstacle ?? error
                return false
            case .unanswered(let error):
                course.obstacle = course.obstacle ?? error
                return false
            }
        }
        return false
    }

    /// What asking once for the answer to a batch came to.
    private enum Prospect {
        /// The answer was there. Whether anything has ended or is to be planned anew: not where the service has left everything
        /// undone.
        case ended(hasMoved: Bool)
        case notYet
        /// Nobody will learn it from the monitor.
        case doubtful(TidelogError)
        /// The monitor could not be asked; a later upload asks again.
        case unanswered(TidelogError?)
    }

    @_optimize(none)
    private func look(
        at open: OpenBatch, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Prospect {
        guard let monitor = open.monitor, let outstanding = try await store.outstanding(of: open) else {
            return .ended(hasMoved: false)
        }
        guard session.isOfService(monitor) else {
            return try await unanswerable(
                open, outstanding,
                "The service says that its answer is to be had at \(place(of: monitor)), another origin",
                nil, &course)
        }
        let response: WireResponse
        switch await ask(monitor) {
        case .success(let answer): response = answer
        case .failure(let error):
            if error.code == .cancelled { throw error }
            return try await unanswerable(
                open, outstanding, "Its answer cannot be had: \(error.message)", error, &course)
        }
        switch MonitorAnswer(response, now: store.environment.now()) {
        case .notYet(let wish):
            // A service that asks for no time at all is not asked without end either.
            let delay = course.pauses[open.batch]?.delay ?? .seconds(1)
            course.pauses[open.batch] = (max(wish ?? delay, .seconds(1)), min(delay * 2, .seconds(30)))
            return .notYet
        case .done(let response):
            return try await take(response, of: open, outstanding, &course, &report)
        case .gone: return try await doubt(open, "The service no longer knows the batch that it had accepted.")
        case .unreadable: return try await doubt(open, "The answer to the batch that was accepted cannot be read.")
        case .failed, .unauthorized:
            let error = failure(of: response, monitor)
            return try await unanswerable(
                open, outstanding, "Its answer cannot be had: \(error.message)", error, &course)
        }
    }

    private func ask(_ monitor: String) async -> Result<WireResponse, TidelogError> {
        do throws(TidelogError) {
            return .success(try await session.get(monitor, headers: ["Accept": "application/http"]))
        } catch {
            return .failure(error)
        }
    }

    private func failure(of response: WireResponse, _ monitor: String) -> TidelogError {
        do throws(TidelogError) {
            try ServiceSession.check(response, "GET", place(of: monitor))
        } catch {
            return error
        }
        return TidelogError(.notOData, "The status monitor answered strangely.", place: place(of: monitor))
    }

    /// A monitor that cannot be asked says nothing of the batch, on which the service may still be at work: what is read now to
    /// find out would be out of date at once. So it is left some time: without end where the service was not even heard, since
    /// somebody who is offline for days has its answer when they are back.
    ///
    /// - Parameter error: why; nil where that is no failure of this upload.
    @_optimize(none)
    private func unanswerable(
        _ open: OpenBatch, _ outstanding: OutstandingAnswer, _ reason: String, _ error: TidelogError?,
        _ course: inout Course
    ) async throws(TidelogError) -> Prospect {
        let isLasting = error?.isLastingOfMonitor ?? true
        // Others like it would fare no better.
        if isLasting { course.isImpatient = true }
        let limit = isLasting ? Self.settlingTime : Self.longestSettlingTime
        let age = store.environment.now().subtractingReportingOverflow(outstanding.since).partialValue
        // A clock that was put back says nothing.
        guard error?.isSilenceOfMonitor == true || (age >= 0 && age < limit.milliseconds) else {
            return try await doubt(open, reason + ".")
        }
        course.unanswered.insert(open.batch)
        course.reasons[open.batch] = reason
        return .unanswered(isLasting ? nil : error)
    }

    /// How long a service is believed to work on a batch of which it will not tell.
    private static let settlingTime = Duration.seconds(600)
    /// The same where it will not tell for the moment.
    private static let longestSettlingTime = Duration.seconds(86_400)

    /// Logs that nobody will learn what became of the batch from its monitor.
    @_optimize(none)
    private func doubt(_ open: OpenBatch, _ reason: String) async throws(TidelogError) -> Prospect {
        try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
        return .doubtful(
            TidelogError(
                .inDoubt, reason, place: open.monitor.map(place),
                recovery: "The operations are in doubt; the next upload finds out which of them took effect."))
    }

    /// As errors may show it.
    private func place(of monitor: String) -> String { URLText.withoutSecrets(session.absolute(monitor)) }

    /// Who cancels the upload meanwhile wants the batch cancelled too, if the service still can.
    @_optimize(none)
    private func wait(_ pause: Duration, for open: OpenBatch) async throws(TidelogError) {
        session.activity.tell(
            .waiting(
                until: store.environment.now() + pause.milliseconds, attempt: 0,
                reason: "The service works on batch \(open.batch)."))
        do throws(CancellationError) {
            try await store.environment.sleep(pause)
        } catch {
            let monitor = open.monitor ?? ""
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

    @_optimize(none)
    private func take(
        _ response: WireResponse, of open: OpenBatch, _ outstanding: OutstandingAnswer, _ course: inout Course,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> Prospect {
        let terms = try await terms(course)
        let plan = try await store.plan(of: open.prepared, outstanding.places, options: terms.options)
        let requests = outstanding.places.map { place in
            place < open.prepared.sent.count ? open.prepared.sent[place].map(\.request) : []
        }
        let request = open.prepared.request(outstanding.places)
        guard !outstanding.isRepeated else {
            // What it does not settle is in doubt as before, and found out by reading.
            _ = try await doubt(open, "The service did not carry out the repetition.")
            let repetition = Repetition((try? BatchExchange.outcomes(response, to: request)) ?? [])
            return .ended(
                hasMoved: try await settle(repetition, open, plan, requests, terms, &course, &report))
        }
        switch BatchAnswer(response) {
        case .parts: break
        case .refused, .untouched, .accepted:
            try await store.withdraw(open.batch, plan)
            // Asked at once, the service says of which part it is.
            course.isImpatient = true
            course.lateRefusals += 1
            if course.lateRefusals > Self.refusalLimit {
                try ServiceSession.check(response, "POST", session.root + "$batch")
            }
            return .ended(hasMoved: true)
        case .unknown: return try await doubt(open, "The service answered the batch with status \(response.status).")
        }
        guard let outcomes = try? BatchExchange.outcomes(response, to: request) else {
            return try await doubt(open, "The answer to the batch cannot be read.")
        }
        let results = try await answer(open.batch, plan, requests, Self.bySet(outcomes), terms, &course, &report)
        return .ended(hasMoved: results.contains { $0.result != .notProcessed })
    }

    /// As if nothing else were in the batch.
    static func bySet(_ outcomes: [BatchPartOutcome]) -> [ChangeSetOutcome] {
        outcomes.map { if case .changeSet(let outcome) = $0 { outcome } else { .notProcessed } }
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

extension TidelogError {
    /// Whether asking a monitor again would come to the same.
    fileprivate var isLastingOfMonitor: Bool {
        if let answer = cause as? UnsuccessfulAnswer { return answer.isLasting && answer.status != 407 }
        if let failure = cause as? TransportError {
            return [.redirectRefused, .protocolViolation].contains(failure.code)
        }
        // No URL at all.
        return code == .invalidRequest
    }

    /// Whether the service was not heard at all: no connection, credentials that are not good any more, the way to where they
    /// are asked for.
    fileprivate var isSilenceOfMonitor: Bool {
        if let answer = cause as? UnsuccessfulAnswer { return [401, 407].contains(answer.status) }
        // These are answers of which something came.
        return code == .unreachable && ![.truncated, .tooLarge].contains((cause as? TransportError)?.code)
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
