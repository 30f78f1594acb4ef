import EDM
import ODataWire
import Operations
import SyncCore

/// Sending one batch, and interpreting the response as a whole.
extension UploadRound {
    /// The result of sending a batch.
    enum SendResult {
        /// The service answered, with one outcome for each change set.
        case answered([ChangeSetOutcome])
        /// The service refused the whole batch because of something in it.
        case refused(WireResponse)
        /// The batch was not sent because of a header in it.
        case unsendable(HeaderObstacle)
        /// The service processes the batch asynchronously.
        case accepted
    }

    /// The requests of a plan in their final form.
    struct OutgoingBatch: Sendable {
        let requests: [[WireRequest]]
        /// Whether the service recognizes these requests if they are repeated.
        let isRepeatable: Bool

        /// Returns the requests to log with the plan, so that they can be repeated. Empty if they are not repeatable.
        func sent(_ plan: UploadPlan) -> [[BatchPrepared.SentRequest]] {
            guard isRepeatable else { return [] }
            return zip(plan.changeSets, requests).map { changeSet, requests in
                zip(changeSet.requests, requests).map { BatchPrepared.SentRequest($1, contentID: $0.contentID) }
            }
        }

        /// Whether the requests can be logged in one record. A record holds at most 16 MiB; the limit here is lower.
        var fitsRecord: Bool { !isRepeatable || size <= 4 << 20 }
        var size: Int { requests.joined().reduce(0) { $0 + $1.body.count + $1.url.utf8.count + 512 } }
    }

    @_optimize(none)
    func requests(of plan: UploadPlan, _ serviceProfile: ServiceProfile) async -> OutgoingBatch {
        let plain = encoder(serviceProfile).requests(of: plan)
        // The log does not contain the body, so the request could not be repeated byte by byte.
        if plan.writesStream { return OutgoingBatch(requests: plain, isRepeatable: false) }
        let headers = RepeatabilityHeaders(
            form: serviceProfile.options.repeatability, client: store.identifier, environment: store.environment)
        let marked = OutgoingBatch(
            requests: headers.mark(plain), isRepeatable: serviceProfile.options.repeatability != .none)
        // A single change set that is too large for a record is not repeatable. If it becomes in doubt, it is
        // resolved by reading.
        guard marked.size <= 12 << 20 || plan.changeSets.count > 1 else {
            return OutgoingBatch(requests: plain, isRepeatable: false)
        }
        return marked
    }

    func encoder(_ serviceProfile: ServiceProfile) -> BatchEncoder {
        BatchEncoder(
            model: serviceProfile.model, serviceRoot: session.root, options: serviceProfile.options,
            givenRoot: session.givenRoot)
    }

    @_optimize(none)
    func deliver(
        _ plan: UploadPlan, _ requests: [[WireRequest]], _ batch: BatchID, _ serviceProfile: ServiceProfile,
        _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> SendResult {
        // New operations cannot have such a header, but older logs may contain some.
        let obstacle = requests.joined().lazy.compactMap {
            $0.headers.obstacle(inBatch: serviceProfile.options.supportsBatch)
        }
        .first
        if let obstacle { return .unsendable(obstacle) }
        guard serviceProfile.options.supportsBatch else {
            return .answered(try await sendSingle(plan, requests, batch, serviceProfile, &state, &report))
        }
        let encoded: BatchEncoder.Encoded
        let response: WireResponse
        do throws(TidelogError) {
            encoded = try encoder(serviceProfile).encode(requests, of: plan, number: batch)
            report.batches += 1
            report.bytesSent += encoded.request.body.count
            response = try await session.modify(encoded.request)
        } catch {
            if let doubt = state.doubt(plan, error) { return .answered([doubt]) }
            try await failed(batch, plan, error)
            throw error
        }
        switch BatchResponseKind(response, mayBeLater: !serviceProfile.model.version.isLegacy) {
        case .parts: break
        case .accepted(let monitor):
            try await store.record([.batchAccepted(BatchAccepted(batch: batch, monitor: monitor))])
            return .accepted
        case .refused: return .refused(response)
        case .untouched:
            // A proxy or firewall between the client and the service may have rejected the content of the batch.
            if response.isForeignRefusal, await answersParts(serviceProfile, &state, &report) {
                return .refused(response)
            }
            try await store.withdraw(batch, plan)
            try ServiceSession.check(response, "POST", session.root + "$batch")
        case .unknown:
            if let outcome = state.doubt(plan, response, "POST", session.root + "$batch") {
                return .answered([outcome])
            }
            let reason = "The service responded to the batch with status \(response.status)."
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            try ServiceSession.check(response, "POST", session.root + "$batch")
        }
        let outcomes = try await outcomes(response, to: encoded.exchange.batch, batch)
        state.hasAnsweredParts = true
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

    /// Returns one outcome for each change set, from a response with parts.
    @_optimize(none)
    func outcomes(
        _ response: WireResponse, to request: BatchRequest, _ batch: BatchID
    ) async throws(TidelogError) -> [ChangeSetOutcome] {
        do throws(BatchReadError) {
            return Self.bySet(try BatchExchange.outcomes(response, to: request))
        } catch {
            let reason = "The response to the batch cannot be read: \(error)"
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            throw TidelogError(
                .inDoubt, reason, place: session.root + "$batch",
                recovery: "The operations are in doubt; the next upload determines which of them took effect.",
                cause: error)
        }
    }
}

extension UploadRound.UploadState {
    /// Returns the outcome of a change set that repeatedly makes the service, or a gateway, fail.
    ///
    /// The change set has to be alone in its batch, so that other change sets can proceed. Nil if this change set is
    /// not known to be the cause.
    mutating func doubt(
        _ plan: UploadPlan, _ response: WireResponse, _ method: String, _ url: String
    ) -> ChangeSetOutcome? {
        guard isSuspect(plan) else { return nil }
        if UnsuccessfulResponse(response).isLasting, ServiceErrorReader.read(response.body) != nil {
            return .failed(response, culprit: nil)
        }
        do throws(TidelogError) {
            try ServiceSession.check(response, method, url)
        } catch {
            // If the cause is the service after all, a later upload may succeed.
            if !error.isLastingAnswer { obstacle = obstacle ?? error }
        }
        return .inDoubt("The service responded with status \(response.status) repeatedly.")
    }

    /// Returns the same outcome if there was no response.
    mutating func doubt(_ plan: UploadPlan, _ error: TidelogError) -> ChangeSetOutcome? {
        guard isSuspect(plan), error.mayHaveReachedService, error.code != .cancelled else { return nil }
        obstacle = obstacle ?? error
        return .inDoubt("\(error.message) This happened repeatedly.")
    }

    private func isSuspect(_ plan: UploadPlan) -> Bool {
        plan.changeSets.count == 1 && !suspects.isDisjoint(with: plan.changeSets[0].operations)
    }
}

/// The interpretation of the head of the response to a whole batch.
enum BatchResponseKind: Equatable {
    /// The response contains the responses to the parts.
    case parts
    /// The response will be available at this URL.
    case accepted(String)
    /// Nothing was processed, because of something in the batch.
    case refused
    /// Nothing was processed, whatever the batch contains.
    case untouched
    /// Any part may have been processed. A gateway timeout has this form.
    case unknown

    /// Interprets a response.
    ///
    /// - Parameter mayBeLater: Whether 202 means asynchronous processing. Pass true even if this request did not ask
    ///   for it, because a repeated request may receive the response to the first one, which did. In V2 a 202 is the
    ///   response itself.
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
    /// Whether the service itself is busy. A gateway may return 503 although the service has received the request.
    var isFromService: Bool { headers["Retry-After"] != nil || ServiceErrorReader.read(body) != nil }

    var isFromGateway: Bool { status == 503 && !isFromService }

    /// Whether the refusal is not an OData error, so that it comes from a component that inspects requests before the
    /// service.
    var isForeignRefusal: Bool {
        status == 403 && headers["X-CSRF-Token"] == nil && headers["WWW-Authenticate"] == nil
            && ServiceErrorReader.read(body) == nil
    }

    fileprivate var hasParts: Bool { headers["Content-Type"]?.lowercased().hasPrefix("multipart/") == true }
}

extension UploadPlan {
    /// Splits the plan into parts, in order.
    ///
    /// No part contains more than half of the suspects, or both suspects and other change sets. If one suspect makes
    /// the service fail, each upload therefore halves the number of suspects.
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

    /// The change sets in two plans. No change set is split.
    var halves: [UploadPlan] {
        let middle = changeSets.count / 2
        return [
            UploadPlan(changeSets: Array(changeSets[..<middle])), UploadPlan(changeSets: Array(changeSets[middle...])),
        ]
    }
}

extension TidelogError {
    /// Whether the service may have received the request.
    var mayHaveReachedService: Bool {
        (cause as? any UncertainDelivery)?.mayHaveBeenSent ?? false
    }
}

extension HeaderObstacle {
    /// A response in the form of a service refusal. Its status is 0, which no service uses.
    var response: WireResponse {
        WireResponse(status: 0, headers: HTTPHeaders(), body: Array("\(description) \(recovery)".utf8))
    }
}
