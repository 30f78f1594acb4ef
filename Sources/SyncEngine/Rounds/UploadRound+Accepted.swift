import ODataWire
import Operations
import SyncCore
import Transport

/// Polls batches that the service processes asynchronously (OData 4.01 Part 1, 11.6).
///
/// The URLs of their status monitors are in the log, so an upload continues to poll the batches of an earlier upload or
/// process. Independent operations are sent first. A monitor that cannot be reached ends the upload only after all
/// other work is done.
extension UploadRound {
    /// Polls each accepted batch once, without waiting.
    @_optimize(none)
    func pollAcceptedBatches(_ state: inout UploadState, _ report: inout UploadReport) async throws(TidelogError) {
        for open in try await store.openBatches() where open.monitor != nil {
            switch try await poll(at: open, &state, &report) {
            // Operations that are in doubt now are resolved with the others and do not block the rest.
            case .ended, .notYet, .doubtful: break
            case .unanswered(let error): state.obstacle = state.obstacle ?? error
            }
        }
    }

    /// Waits for accepted batches within the upload's patience.
    ///
    /// - Returns: Whether a batch ended or has to be planned again.
    @_optimize(none)
    func awaitAccepted(_ state: inout UploadState, _ report: inout UploadReport) async throws(TidelogError) -> Bool {
        for open in try await store.openBatches() where open.monitor != nil {
            if try await awaitAnswer(to: open, &state, &report) { return true }
        }
        return false
    }

    @_optimize(none)
    private func awaitAnswer(
        to open: OpenBatch, _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        while !state.unanswered.contains(open.batch) {
            if let pause = state.pauses[open.batch]?.next {
                guard state.waited + pause <= upload.monitorPatience else { return false }
                try await wait(pause, for: open)
                state.waited += pause
            }
            switch try await poll(at: open, &state, &report) {
            case .ended(let hasMoved): return hasMoved
            case .notYet: continue
            case .doubtful(let error):
                state.obstacle = state.obstacle ?? error
                return false
            case .unanswered(let error):
                state.obstacle = state.obstacle ?? error
                return false
            }
        }
        return false
    }

    /// The result of polling a batch once.
    private enum PollResult {
        /// The response was available. The value is whether any operation ended or has to be planned again; it is false
        /// if the service processed nothing.
        case ended(hasMoved: Bool)
        case notYet
        /// The monitor will never return the outcome.
        case doubtful(TidelogError)
        /// The monitor could not be reached. A later upload polls it again.
        case unanswered(TidelogError?)
    }

    @_optimize(none)
    private func poll(
        at open: OpenBatch, _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> PollResult {
        guard let monitor = open.monitor, let outstanding = try await store.outstanding(of: open) else {
            return .ended(hasMoved: false)
        }
        guard session.isOfService(monitor) else {
            return try await unanswerable(
                open, outstanding,
                "The status monitor of the batch is at \(place(of: monitor)), which has another origin",
                nil, &state)
        }
        let response: WireResponse
        switch await ask(monitor) {
        case .success(let answer): response = answer
        case .failure(let error):
            if error.code == .cancelled { throw error }
            return try await unanswerable(
                open, outstanding, "Its response cannot be retrieved: \(error.message)", error, &state)
        }
        switch MonitorResponse(response, now: store.environment.now()) {
        case .notYet(let wish):
            // Bound the polling even if the service does not ask for a delay.
            let delay = state.pauses[open.batch]?.delay ?? .seconds(1)
            state.pauses[open.batch] = (max(wish ?? delay, .seconds(1)), min(delay * 2, .seconds(30)))
            return .notYet
        case .done(let response):
            return try await interpret(response, of: open, outstanding, &state, &report)
        case .gone: return try await doubt(open, "The service no longer knows the batch that it accepted.")
        case .unreadable: return try await doubt(open, "The response to the accepted batch cannot be read.")
        case .failed, .unauthorized:
            let error = failure(of: response, monitor)
            return try await unanswerable(
                open, outstanding, "Its response cannot be retrieved: \(error.message)", error, &state)
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
        return TidelogError(.notOData, "The response of the status monitor is not valid.", place: place(of: monitor))
    }

    /// Handles a monitor that cannot be reached.
    ///
    /// The service may still be processing the batch, so anything read now would be outdated at once. The batch is
    /// therefore given time before its operations become in doubt. The time is unlimited if there was no contact with
    /// the service at all, because a client that was offline for days can still fetch the response.
    ///
    /// - Parameter error: The cause, or nil if it is not a failure of this upload.
    @_optimize(none)
    private func unanswerable(
        _ open: OpenBatch, _ outstanding: OutstandingResponse, _ reason: String, _ error: TidelogError?,
        _ state: inout UploadState
    ) async throws(TidelogError) -> PollResult {
        let isLasting = error?.isLastingOfMonitor ?? true
        // The service's other batches would fail in the same way.
        if isLasting { state.isImpatient = true }
        let limit = isLasting ? Self.settlingTime : Self.longestSettlingTime
        let age = store.environment.now().subtractingReportingOverflow(outstanding.since).partialValue
        // A clock that was set back proves nothing.
        guard error?.isSilenceOfMonitor == true || (age >= 0 && age < limit.milliseconds) else {
            return try await doubt(open, reason + ".")
        }
        state.unanswered.insert(open.batch)
        state.reasons[open.batch] = reason
        return .unanswered(isLasting ? nil : error)
    }

    /// The time after which a batch whose monitor permanently refuses to answer is in doubt.
    private static let settlingTime = Duration.seconds(600)
    /// The same time for a monitor that is temporarily unavailable.
    private static let longestSettlingTime = Duration.seconds(86_400)

    /// Logs that the monitor cannot return the outcome of the batch.
    @_optimize(none)
    private func doubt(_ open: OpenBatch, _ reason: String) async throws(TidelogError) -> PollResult {
        try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
        return .doubtful(
            TidelogError(
                .inDoubt, reason, place: open.monitor.map(place),
                recovery: "The operations are in doubt; the next upload determines which of them took effect."))
    }

    /// Returns the monitor's URL in the form that error messages may contain.
    private func place(of monitor: String) -> String { URLText.withoutSecrets(session.absolute(monitor)) }

    /// Waits before the next poll. If the upload is cancelled meanwhile, the batch is cancelled on the service too, if
    /// possible.
    @_optimize(none)
    private func wait(_ pause: Duration, for open: OpenBatch) async throws(TidelogError) {
        session.activity.notify(
            .waiting(
                until: store.environment.now() + pause.milliseconds, attempt: 0,
                reason: "The service is processing batch \(open.batch)."))
        do throws(CancellationError) {
            try await store.environment.sleep(pause)
        } catch {
            let monitor = open.monitor ?? ""
            // A new task, because the cancelled one no longer sends requests.
            let session = session
            let answer = await Task { try? await session.modify(WireRequest(method: "DELETE", url: monitor)) }.value
            // If the service refuses to cancel, or has only begun to (202), the monitor continues to report the
            // outcome.
            if let answer, answer.isSuccess, answer.status != 202 {
                // A batch is no transaction: completed change sets may not be rolled back.
                let reason = "The batch was cancelled while the service processed it."
                try await store.record([.batchInterrupted(BatchInterrupted(batch: open.batch, reason: reason))])
            }
            throw TidelogError(
                .cancelled, "The upload was cancelled while the service processed a batch.", place: place(of: monitor),
                recovery: "Start the upload again; no data is lost.")
        }
    }

    @_optimize(none)
    private func interpret(
        _ response: WireResponse, of open: OpenBatch, _ outstanding: OutstandingResponse, _ state: inout UploadState,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> PollResult {
        let serviceProfile = try await serviceProfile(state)
        let plan = try await store.plan(of: open.prepared, outstanding.places, options: serviceProfile.options)
        let requests = outstanding.places.map { place in
            place < open.prepared.sent.count ? open.prepared.sent[place].map(\.request) : []
        }
        let request = open.prepared.request(outstanding.places)
        guard !outstanding.isRepeated else {
            // Operations that the repetition does not resolve stay in doubt and are resolved by reading.
            _ = try await doubt(open, "The service did not execute the retry.")
            let repetition = ResendOutcomes((try? BatchExchange.outcomes(response, to: request)) ?? [])
            return .ended(
                hasMoved: try await logOutcomes(repetition, open, plan, requests, serviceProfile, &state, &report))
        }
        switch BatchResponseKind(response) {
        case .parts: break
        case .refused, .untouched, .accepted:
            try await store.withdraw(open.batch, plan)
            // In a synchronous response the service names the failing part.
            state.isImpatient = true
            state.lateRefusals += 1
            if state.lateRefusals > Self.refusalLimit {
                try ServiceSession.check(response, "POST", session.root + "$batch")
            }
            return .ended(hasMoved: true)
        case .unknown:
            return try await doubt(open, "The service responded to the batch with status \(response.status).")
        }
        guard let outcomes = try? BatchExchange.outcomes(response, to: request) else {
            return try await doubt(open, "The response to the batch cannot be read.")
        }
        let results = try await answer(
            open.batch, plan, requests, Self.bySet(outcomes), serviceProfile, &state, &report)
        return .ended(hasMoved: results.contains { $0.result != .notProcessed })
    }

    /// Returns the outcomes of the change sets, without the other parts of the batch.
    static func bySet(_ outcomes: [BatchPartOutcome]) -> [ChangeSetOutcome] {
        outcomes.map { if case .changeSet(let outcome) = $0 { outcome } else { .notProcessed } }
    }
}

/// The response of a status monitor.
enum MonitorResponse: Equatable {
    /// The batch is not finished; poll again, after the given delay if there is one.
    case notYet(Duration?)
    case done(WireResponse)
    /// The monitor does not exist: the response was already fetched, or the service has discarded it.
    case gone
    /// The response does not contain an outcome of the batch.
    case unreadable
    /// The service requires other credentials, as it would for any request.
    case unauthorized
    /// The monitor itself failed.
    case failed

    /// Interprets a response.
    ///
    /// - Parameter now: The time that a date in `Retry-After` is compared with.
    init(_ response: WireResponse, now: Timestamp) {
        switch response.status {
        case 202: self = .notYet(RetryAfter.delay(response.headers, now: now))
        case 401, 407: self = .unauthorized
        case 404, 410: self = .gone
        case 200..<300:
            if response.headers["Content-Type"]?.lowercased().hasPrefix("application/http") == true {
                self = HTTPMessage.response(response.body).map(MonitorResponse.done) ?? .unreadable
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
    /// Whether polling the monitor again would fail in the same way.
    fileprivate var isLastingOfMonitor: Bool {
        if let answer = cause as? UnsuccessfulResponse { return answer.isLasting && answer.status != 407 }
        if let failure = cause as? TransportError {
            return [.redirectRefused, .protocolViolation].contains(failure.code)
        }
        // The monitor's address is not a URL.
        return code == .invalidRequest
    }

    /// Whether there was no usable contact with the service: no connection, expired credentials, or an unreachable
    /// authentication endpoint.
    fileprivate var isSilenceOfMonitor: Bool {
        if let answer = cause as? UnsuccessfulResponse { return [401, 407].contains(answer.status) }
        // In these cases a part of a response arrived.
        return code == .unreachable && ![.truncated, .tooLarge].contains((cause as? TransportError)?.code)
    }
}

extension BatchPrepared {
    /// Returns the change sets at these places, with the parts of the requests that are needed to match responses by
    /// Content-ID and position.
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
