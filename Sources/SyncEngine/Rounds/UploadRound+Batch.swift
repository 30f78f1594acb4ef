import EDM
import ODataWire
import Operations
import SyncCore

/// One batch on its way: what goes out, and what the answer as a whole says.
extension UploadRound {
    /// What became of a batch that was sent.
    enum Delivery {
        /// One for each change set.
        case answered([ChangeSetOutcome])
        /// Not looked at, because of something that is in it.
        case refused(WireResponse)
        /// It did not leave, because of something that is in it.
        case unsendable(HeaderObstacle)
        /// The answer comes later.
        case accepted
    }

    /// The requests of a plan in their final form.
    struct Outgoing: Sendable {
        let requests: [[WireRequest]]
        /// Whether the service knows them again when they come again.
        let isRepeatable: Bool

        /// What is logged beside the operations.
        func sent(_ plan: UploadPlan) -> [[BatchPrepared.SentRequest]] {
            guard isRepeatable else { return [] }
            return zip(plan.changeSets, requests).map { changeSet, requests in
                zip(changeSet.requests, requests).map { BatchPrepared.SentRequest($1, contentID: $0.contentID) }
            }
        }

        /// A record of the log holds 16 MiB, and a batch of that size is no good idea anyway.
        var fitsRecord: Bool { !isRepeatable || size <= 4 << 20 }
        var size: Int { requests.joined().reduce(0) { $0 + $1.body.count + $1.url.utf8.count + 512 } }
    }

    @_optimize(none)
    func requests(of plan: UploadPlan, _ terms: Terms) async -> Outgoing {
        let plain = encoder(terms).requests(of: plan)
        // The log does not hold the body, so nothing could send it again to the byte.
        if plan.writesStream { return Outgoing(requests: plain, isRepeatable: false) }
        let headers = RepeatabilityHeaders(
            form: terms.options.repeatability, client: store.identifier, environment: store.environment)
        let marked = Outgoing(requests: headers.mark(plain), isRepeatable: terms.options.repeatability != .none)
        // What is too large for the log even alone goes without, and is looked for where it is in doubt.
        guard marked.size <= 12 << 20 || plan.changeSets.count > 1 else {
            return Outgoing(requests: plain, isRepeatable: false)
        }
        return marked
    }

    func encoder(_ terms: Terms) -> BatchEncoder {
        BatchEncoder(
            model: terms.model, serviceRoot: session.root, options: terms.options, givenRoot: session.givenRoot)
    }

    @_optimize(none)
    func deliver(
        _ plan: UploadPlan, _ requests: [[WireRequest]], _ batch: BatchID, _ terms: Terms,
        _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> Delivery {
        // None is made any more that has such a header, but logs may hold some.
        let obstacle = requests.joined().lazy.compactMap { $0.headers.obstacle(inBatch: terms.options.supportsBatch) }
            .first
        if let obstacle { return .unsendable(obstacle) }
        guard terms.options.supportsBatch else {
            return .answered(try await sendSingle(plan, requests, batch, terms, &course, &report))
        }
        let encoded: BatchEncoder.Encoded
        let response: WireResponse
        do throws(TidelogError) {
            encoded = try encoder(terms).encode(requests, of: plan, number: batch)
            report.batches += 1
            report.bytesSent += encoded.request.body.count
            response = try await session.modify(encoded.request)
        } catch {
            if let doubt = course.doubt(plan, error) { return .answered([doubt]) }
            try await failed(batch, plan, error)
            throw error
        }
        switch BatchAnswer(response, mayBeLater: !terms.model.version.isLegacy) {
        case .parts: break
        case .accepted(let monitor):
            try await store.record([.batchAccepted(BatchAccepted(batch: batch, monitor: monitor))])
            return .accepted
        case .refused: return .refused(response)
        case .untouched:
            // Something in front of the service may dislike what is in the batch.
            if response.isForeignRefusal, await answersParts(terms, &course, &report) { return .refused(response) }
            try await store.withdraw(batch, plan)
            try ServiceSession.check(response, "POST", session.root + "$batch")
        case .unknown:
            if let outcome = course.doubt(plan, response, "POST", session.root + "$batch") {
                return .answered([outcome])
            }
            let reason = "The service answered the batch with status \(response.status)."
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            try ServiceSession.check(response, "POST", session.root + "$batch")
        }
        let outcomes = try await outcomes(response, to: encoded.exchange.batch, batch)
        course.hasAnsweredParts = true
        return .answered(outcomes)
    }

    @_optimize(none)
    func failed(_ batch: BatchID, _ plan: UploadPlan, _ error: TidelogError) async throws(TidelogError) {
        if error.mayHaveReachedService {
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: error.message))])
        } else {
            try await store.withdraw(batch, plan)
        }
    }

    /// One for each change set of the batch, from an answer with parts.
    @_optimize(none)
    func outcomes(
        _ response: WireResponse, to request: BatchRequest, _ batch: BatchID
    ) async throws(TidelogError) -> [ChangeSetOutcome] {
        do throws(BatchReadError) {
            return Self.bySet(try BatchExchange.outcomes(response, to: request))
        } catch {
            let reason = "The answer to the batch cannot be read: \(error)"
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            throw TidelogError(
                .inDoubt, reason, place: session.root + "$batch",
                recovery: "The operations are in doubt; the next upload finds out which of them took effect.",
                cause: error)
        }
    }
}

extension UploadRound.Course {
    /// What becomes of a change set at which the service seems to break, or something in front of it: not for the first time,
    /// and it is alone, so that the others may go. Nil where it is not known to be this one.
    mutating func doubt(
        _ plan: UploadPlan, _ response: WireResponse, _ method: String, _ url: String
    ) -> ChangeSetOutcome? {
        guard isSuspect(plan) else { return nil }
        if UnsuccessfulAnswer(response).isLasting, ServiceErrorReader.read(response.body) != nil {
            return .failed(response, culprit: nil)
        }
        do throws(TidelogError) {
            try ServiceSession.check(response, method, url)
        } catch {
            // The next may fare better later, if it is the service after all.
            if !error.isLastingAnswer { obstacle = obstacle ?? error }
        }
        return .inDoubt("The service answered with status \(response.status), not for the first time.")
    }

    /// The same where no answer came.
    mutating func doubt(_ plan: UploadPlan, _ error: TidelogError) -> ChangeSetOutcome? {
        guard isSuspect(plan), error.mayHaveReachedService, error.code != .cancelled else { return nil }
        obstacle = obstacle ?? error
        return .inDoubt("\(error.message) Not for the first time.")
    }

    private func isSuspect(_ plan: UploadPlan) -> Bool {
        plan.changeSets.count == 1 && !suspects.isDisjoint(with: plan.changeSets[0].operations)
    }
}

/// What the head of an answer to a whole batch says.
enum BatchAnswer: Equatable {
    /// It holds the answers to the parts.
    case parts
    /// They come later, at this address.
    case accepted(String)
    /// Nothing was carried out, and the reason is in the batch.
    case refused
    /// Nothing was carried out, and nothing would be now, whatever is in it.
    case untouched
    /// Anything may have been carried out: a gateway's time-out looks like this.
    case unknown

    /// - Parameter mayBeLater: whether 202 is an answer for later, asked for or not: the first answer to a request that is
    ///   repeated was asked for then. In V2 it is the answer itself.
    init(_ response: WireResponse, mayBeLater: Bool = false) {
        switch response.status {
        case 202 where mayBeLater && response.headers["Location"] != nil && !response.hasParts:
            self = .accepted(response.headers["Location"] ?? "")
        case 200..<300: self = .parts
        case 400, 409, 412, 413, 422, 428: self = .refused
        case 503: self = response.isFromService ? .untouched : .unknown
        case 501, ..<500: self = .untouched
        default: self = .unknown
        }
    }
}

extension WireResponse {
    /// Whether the service itself is busy. A gateway may say 503 when the service has already had the request.
    var isFromService: Bool { headers["Retry-After"] != nil || ServiceErrorReader.read(body) != nil }

    var isFromGateway: Bool { status == 503 && !isFromService }

    /// Whether it is refused in words that are not OData's: by something in front of the service that reads what is sent.
    var isForeignRefusal: Bool {
        status == 403 && headers["X-CSRF-Token"] == nil && headers["WWW-Authenticate"] == nil
            && ServiceErrorReader.read(body) == nil
    }

    fileprivate var hasParts: Bool { headers["Content-Type"]?.lowercased().hasPrefix("multipart/") == true }
}

extension UploadPlan {
    /// The plan in order, in pieces, so that none holds more than half of the suspects, and none of the others beside them:
    /// where one of them is what the service breaks at, each upload finds it among half as many.
    func parts(halving suspects: Set<SequenceNumber>) -> [UploadPlan] {
        let isSuspect = changeSets.map { !suspects.isDisjoint(with: $0.operations) }
        let limit = max(1, isSuspect.count { $0 } / 2)
        var parts: [[PlannedChangeSet]] = []
        for (index, changeSet) in changeSets.enumerated() {
            if index > 0, isSuspect[index] == isSuspect[index - 1],
                !isSuspect[index] || parts[parts.count - 1].count < limit
            {
                parts[parts.count - 1].append(changeSet)
            } else {
                parts.append([changeSet])
            }
        }
        return parts.map { UploadPlan(changeSets: $0) }
    }

    /// The change sets in two plans, none of which is split.
    var halves: [UploadPlan] {
        let middle = changeSets.count / 2
        return [
            UploadPlan(changeSets: Array(changeSets[..<middle])), UploadPlan(changeSets: Array(changeSets[middle...])),
        ]
    }
}

extension TidelogError {
    /// Whether the service may have got the request.
    var mayHaveReachedService: Bool {
        (cause as? any UncertainDelivery)?.mayHaveBeenSent ?? false
    }
}

extension HeaderObstacle {
    /// As if the service had said it: no status is its own.
    var response: WireResponse {
        WireResponse(status: 0, headers: HTTPHeaders(), body: Array("\(description) \(recovery)".utf8))
    }
}
