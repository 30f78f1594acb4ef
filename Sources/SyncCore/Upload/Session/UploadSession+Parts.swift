import EDM
import ODataWire
package import Operations

/// The parts of a plan, each of which is sent as a batch, or as a single request.
struct UploadParts: Sendable {
    /// The parts that were not sent yet.
    private(set) var rest: [UploadPlan] = []
    private(set) var current = UploadPlan()
    /// The store's count before planning.
    let epoch: Int
    /// The profile of the plan; nil before the first plan.
    private let whole: ServiceProfile?
    /// The number of trials of reference forms before the first part.
    let trials: Int
    /// Whether any operation ended or has to be planned again.
    var hasMoved = false

    init() {
        (epoch, whole, trials) = (0, nil, 0)
    }

    init(_ parts: [UploadPlan], since epoch: Int, _ profile: ServiceProfile, trials: Int) {
        rest = parts
        whole = profile
        self.epoch = epoch
        self.trials = trials
    }

    /// The profile of the current part.
    var profile: ServiceProfile? { whole?.profile(for: current) }

    /// Advances to the next part. Returns false if there is none.
    mutating func advance() -> Bool {
        guard !rest.isEmpty else { return false }
        current = rest.removeFirst()
        return true
    }

    /// Replaces the current part with its halves.
    mutating func split() { rest.insert(contentsOf: current.halves, at: 0) }
}

/// Sending the parts of a plan.
extension UploadSession {
    mutating func nextPart() {
        guard parts.advance(), let profile = parts.profile else {
            return if parts.hasMoved { nextRound() } else { finish() }
        }
        request(.prepare(parts.current, since: parts.epoch, profile), .prepare)
    }

    mutating func splitPart() {
        parts.split()
        nextPart()
    }

    private var isSplittable: Bool { parts.current.changeSets.count > 1 }
    private var supportsBatch: Bool { parts.profile?.options.supportsBatch ?? true }

    mutating func prepared(_ preparation: Preparation) {
        switch preparation {
        case .tooLarge: splitPart()
        case .outdated: nextRound()
        case .ready(let batch, let obstacle?):
            if isSplittable { return request(.withdraw(batch), .log(.split)) }
            answerPart(batch, [.failed(obstacle.response, culprit: nil)])
        case .ready(let batch, nil):
            // A response must never end operations that were not sent.
            let isSingle = batch.changeSets.count == 1 && batch.changeSets[0].requests.count == 1
            guard supportsBatch || isSingle else { return answerPart(batch, []) }
            request(.send(batch), .send(batch))
        }
    }

    private mutating func answerPart(_ batch: UploadedBatch, _ outcomes: [ChangeSetOutcome]) {
        guard let profile = parts.profile else { preconditionFailure("No part is being sent.") }
        answer(batch.answered(outcomes), profile, .part)
    }

    /// Continues after the outcomes of a part.
    mutating func partEnded(_ results: [BatchAnswered.Outcome]) {
        if results.contains(where: { $0.result != .notProcessed }) || knowledge.forms.count != parts.trials {
            parts.hasMoved = true
        }
        // A newly deferred operation means that the service is busy, so the upload stops. An operation that was
        // deferred before may be the only busy one and does not block the others.
        if !supportsBatch, results.contains(where: isFirstDeferral) { return finish() }
        // Operations after a request that was not processed have to be planned again.
        guard results.allSatisfy(\.isConfirmed) else { return if parts.hasMoved { nextRound() } else { finish() } }
        nextPart()
    }

    private func isFirstDeferral(_ outcome: BatchAnswered.Outcome) -> Bool {
        if case .deferred = outcome.result { deferrals[outcome.operation] == nil } else { false }
    }

    // MARK: Responses

    mutating func received(_ response: WireResponse, _ batch: UploadedBatch) {
        if supportsBatch { receivedBatch(response, batch) } else { receivedSingle(response, batch) }
    }

    private mutating func receivedBatch(_ response: WireResponse, _ batch: UploadedBatch) {
        let isLegacy = parts.profile?.model.version.isLegacy ?? false
        switch BatchResponseKind(response, mayBeLater: !isLegacy) {
        case .parts: readParts(response, batch)
        // Independent operations continue meanwhile.
        case .accepted(let monitor): request(.accept(batch.number, monitor: monitor), .log(.nextRound))
        case .refused: refusedWhole(response, batch)
        case .untouched: untouched(response, batch)
        case .unknown:
            let reason = "The service responded to the batch with status \(response.status)."
            unknown(response, batch, .batch, reason)
        }
    }

    private mutating func readParts(_ response: WireResponse, _ batch: UploadedBatch) {
        do throws(BatchReadError) {
            let outcomes = try BatchExchange.outcomes(response, to: batch.request).changeSets
            knowledge.hasAnsweredParts = true
            refusals = 0
            answerPart(batch, outcomes)
        } catch {
            let reason = "The response to the batch cannot be read: \(error)"
            request(.interrupt(batch.number, reason), .log(.fail(.doubt(reason, .batch))))
        }
    }

    private mutating func receivedSingle(_ response: WireResponse, _ batch: UploadedBatch) {
        switch SingleResponseKind(response) {
        case .done:
            refusals = 0
            answerPart(batch, [.members([response])])
        case .refused: refusedSingle(response, batch)
        case .untouched: untouched(response, batch)
        case .unknown:
            let reason = "The service responded with status \(response.status) without an OData error."
            unknown(response, batch, target(batch), reason)
        case .foreign: receivedPage(batch)
        }
    }

    /// Handles a web page instead of the response to a single request. The next upload determines whether the service
    /// has received the request.
    private mutating func receivedPage(_ batch: UploadedBatch) {
        let reason = "The response to the request is not OData: it may come from an intermediary."
        let doubt = Obstacle.doubt(reason, target(batch))
        guard isSuspect else { return request(.interrupt(batch.number, reason), .log(.fail(doubt))) }
        obstacle = obstacle ?? doubt
        refusals = 0
        answerPart(batch, [.inDoubt(reason)])
    }

    private mutating func refusedSingle(_ response: WireResponse, _ batch: UploadedBatch) {
        refusals = 0
        answerPart(batch, [.failed(response, culprit: batch.changeSets.first?.requests.first?.contentID)])
    }

    /// Handles the rejection of a whole batch because of something in it.
    private mutating func refusedWhole(_ response: WireResponse, _ batch: UploadedBatch) {
        if isSplittable { return request(.withdraw(batch), .log(.split)) }
        refusals += 1
        if refusals >= Self.refusalLimit, !knowledge.hasAnsweredParts { return probe(batch, response) }
        answerPart(batch, [.failed(response, culprit: nil)])
    }

    /// Handles a response that the service gives whatever the request contains.
    private mutating func untouched(_ response: WireResponse, _ batch: UploadedBatch) {
        guard response.isForeignRefusal else { return withdrawAndFail(response, batch) }
        if knowledge.hasAnsweredParts { return refusedByOther(response, batch) }
        probe(batch, response)
    }

    /// Handles a rejection by a proxy or firewall between the client and the service, which concerns the content.
    private mutating func refusedByOther(_ response: WireResponse, _ batch: UploadedBatch) {
        if supportsBatch { refusedWhole(response, batch) } else { refusedSingle(response, batch) }
    }

    private mutating func probe(_ batch: UploadedBatch, _ response: WireResponse) {
        guard let profile = parts.profile else { preconditionFailure("No part is being sent.") }
        request(.probe(profile), .probe(batch, response))
    }

    /// Continues when it is known whether the service answers other requests.
    mutating func probed(_ batch: UploadedBatch, _ response: WireResponse) {
        guard knowledge.hasAnsweredParts else { return withdrawAndFail(response, batch) }
        if response.isForeignRefusal { return refusedByOther(response, batch) }
        answerPart(batch, [.failed(response, culprit: nil)])
    }

    private mutating func withdrawAndFail(_ response: WireResponse, _ batch: UploadedBatch) {
        request(.withdraw(batch), .log(.fail(.response(response, target(batch)))))
    }

    private func target(_ batch: UploadedBatch) -> UploadTarget {
        guard !supportsBatch, let wire = batch.changeSets.first?.requests.first?.wire else { return .batch }
        return .request(method: wire.method, url: wire.url)
    }

    // MARK: Unknown outcomes

    private mutating func unknown(
        _ response: WireResponse, _ batch: UploadedBatch, _ target: UploadTarget, _ reason: String
    ) {
        guard isSuspect else {
            return request(.interrupt(batch.number, reason), .log(.fail(.response(response, target))))
        }
        refusals = 0
        let isLasting = response.isLasting && !FailureClass.mayHaveBeenExecuted(status: response.status)
        if isLasting, ServiceErrorReader.read(response.body) != nil {
            return answerPart(batch, [.failed(response, culprit: nil)])
        }
        // If the cause is the service after all, a later upload may succeed.
        if !isLasting { obstacle = obstacle ?? .response(response, target) }
        answerPart(
            batch, [.inDoubt("The service responded with status \(response.status) repeatedly.")])
    }

    mutating func failed(_ failure: Failure, _ batch: UploadedBatch) {
        // A stream whose content is lost can never be sent and must not block other operations.
        if !supportsBatch, batch.writesStream, failure.isOfLostContent {
            return refusedSingle(WireResponse(status: 0, body: Array(failure.message.utf8)), batch)
        }
        if isSuspect, failure.mayHaveReachedService, !failure.isCancellation {
            obstacle = obstacle ?? .failure(failure)
            refusals = 0
            return answerPart(batch, [.inDoubt("\(failure.message) This happened repeatedly.")])
        }
        let command: Command =
            failure.mayHaveReachedService ? .interrupt(batch.number, failure.message) : .withdraw(batch)
        request(command, .log(.fail(.failure(failure))))
    }

    /// Whether the current part is a change set that repeatedly makes the service, or a gateway, fail. It is alone in
    /// its batch, so that other change sets can proceed.
    private var isSuspect: Bool {
        let changeSets = parts.current.changeSets
        return changeSets.count == 1 && !suspects.isDisjoint(with: changeSets[0].operations)
    }
}

extension BatchAnswered.Outcome {
    package var isConfirmed: Bool { if case .confirmed = result { true } else { false } }
}
