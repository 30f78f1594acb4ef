import ODataWire
import Operations

/// Polling batches that the service processes asynchronously (OData 4.01 Part 1, 11.6).
///
/// The URLs of their status monitors are in the log, so an upload continues to poll the batches of an earlier upload or
/// process. Independent operations are sent first. A monitor that cannot be reached ends the upload only after all
/// other work is done.
extension UploadSession {
    mutating func polled(_ report: MonitorReport<Failure>?, _ context: PollContext) {
        guard let report else { return pollEnded(.ended(hasMoved: false), context) }
        switch report.answer {
        case .foreign:
            unanswerable(
                report, "The status monitor of the batch is at \(report.monitor), which has another origin",
                isLasting: true, isSilence: false, nil, context)
        case .failure(let failure):
            if failure.isCancellation { return request(.fail(.failure(failure)), .end) }
            unanswerable(
                report, "Its response cannot be retrieved: \(failure.message)", isLasting: failure.isLastingOfMonitor,
                isSilence: failure.isSilence, .failure(failure), context)
        case .response(let response): monitorAnswered(response, report, context)
        }
    }

    private mutating func monitorAnswered(
        _ response: WireResponse, _ report: MonitorReport<Failure>, _ context: PollContext
    ) {
        switch MonitorResponseKind(response, now: report.now) {
        case .notYet(let wish):
            // Bound the polling even if the service does not ask for a delay.
            let delay = pauses[report.batch.number]?.delay ?? .seconds(1)
            pauses[report.batch.number] = (max(wish ?? delay, .seconds(1)), min(delay * 2, .seconds(30)))
            pollEnded(.notYet, context)
        case .done(let response): interpret(response, report, context)
        case .gone: doubt(report, "The service no longer knows the batch that it accepted.", context)
        case .unreadable: doubt(report, "The response to the accepted batch cannot be read.", context)
        case .failed, .unauthorized:
            unanswerable(
                report, "Its response cannot be retrieved: the status monitor responded with status \(response.status)",
                isLasting: response.isLasting && response.status != 407,
                isSilence: [401, 407].contains(response.status), .response(response, .monitor(report.monitor)),
                context)
        }
    }

    /// Handles a monitor that cannot be reached.
    ///
    /// The service may still be processing the batch, so anything read now would be outdated at once. The batch is
    /// therefore given time before its operations become in doubt. The time is unlimited if there was no contact with
    /// the service at all, because a client that was offline for days can still fetch the response.
    private mutating func unanswerable(
        _ report: MonitorReport<Failure>, _ reason: String, isLasting: Bool, isSilence: Bool, _ obstacle: Obstacle?,
        _ context: PollContext
    ) {
        // The service's other batches would fail in the same way.
        if isLasting { knowledge.isImpatient = true }
        let limit = isLasting ? Self.settlingTime : Self.longestSettlingTime
        // A clock that was set back proves nothing.
        guard isSilence || (report.age >= 0 && report.age < limit) else {
            return doubt(report, reason.hasSuffix(".") ? reason : reason + ".", context)
        }
        unanswered[report.batch.number] = reason
        pollEnded(.unanswered(isLasting ? nil : obstacle), context)
    }

    /// The time in milliseconds after which a batch whose monitor permanently refuses to answer is in doubt.
    private static var settlingTime: Int64 { 600_000 }
    /// The same time for a monitor that is temporarily unavailable.
    private static var longestSettlingTime: Int64 { 86_400_000 }

    /// Records that the monitor cannot return the outcome of the batch.
    private mutating func doubt(_ report: MonitorReport<Failure>, _ reason: String, _ context: PollContext) {
        let obstacle = Obstacle.doubt(reason, .monitor(report.monitor))
        request(.interrupt(report.batch.number, reason), .log(.polled(.doubtful(obstacle), context)))
    }

    private mutating func interpret(
        _ response: WireResponse, _ report: MonitorReport<Failure>, _ context: PollContext
    ) {
        let outcomes = try? BatchExchange.outcomes(response, to: report.batch.request).changeSets
        if report.isRepeated { return repeated(report.batch.answered(outcomes ?? []), report, context) }
        switch BatchResponseKind(response) {
        case .parts:
            guard let outcomes else { return doubt(report, "The response to the batch cannot be read.", context) }
            answer(report.batch.answered(outcomes), profile(of: report), .poll(context, hasMoved: nil))
        case .refused, .untouched, .accepted:
            // In a synchronous response the service names the failing part.
            knowledge.isImpatient = true
            lateRefusals += 1
            let isLast = lateRefusals > Self.refusalLimit && !response.isSuccess
            request(
                .withdraw(report.batch),
                .log(isLast ? .fail(.response(response, .batch)) : .polled(.ended(hasMoved: true), context)))
        case .unknown: doubt(report, "The service responded to the batch with status \(response.status).", context)
        }
    }

    /// Returns the profile of a polled batch, limited by a running trial of a simpler reference form.
    private func profile(of report: MonitorReport<Failure>) -> ServiceProfile {
        ServiceProfile(model: report.profile.model, options: knowledge.options(report.profile.options))
    }

    /// Handles the response to a repetition. Operations that it does not resolve stay in doubt and are resolved by
    /// reading.
    private mutating func repeated(
        _ batch: UploadedBatch, _ report: MonitorReport<Failure>, _ context: PollContext
    ) {
        let repetition = ResendOutcomes(batch)
        let continuation: Continuation =
            repetition.answered.changeSets.isEmpty
            ? .polled(.ended(hasMoved: false), context)
            : .answer(repetition.answered, profile(of: report), .poll(context, hasMoved: true))
        request(
            .interrupt(report.batch.number, "The service did not execute the retry."), .log(continuation))
    }

    mutating func pollEnded(_ result: PollResult, _ context: PollContext) {
        switch context {
        case .initial(let rest):
            // Operations that are in doubt now are resolved with the others and do not block the rest.
            if case .unanswered(let obstacle) = result { self.obstacle = self.obstacle ?? obstacle }
            pollInitially(rest)
        case .awaited(let batch, let rest, let plan):
            switch result {
            case .ended(hasMoved: true): nextRound()
            case .ended(hasMoved: false): awaitAnswer(rest, plan)
            case .notYet: awaitAnswer([batch] + rest, plan)
            case .doubtful(let obstacle):
                self.obstacle = self.obstacle ?? obstacle
                awaitAnswer(rest, plan)
            case .unanswered(let obstacle):
                self.obstacle = self.obstacle ?? obstacle
                awaitAnswer(rest, plan)
            }
        }
    }
}
