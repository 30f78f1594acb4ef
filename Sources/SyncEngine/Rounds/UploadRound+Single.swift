import ODataWire
import Operations
import SyncCore

/// Single requests, for a service without `$batch`. They are logged as prepared, answered and interrupted like a batch
/// of one.
extension UploadRound {
    /// Sends a single request.
    ///
    /// - Parameter plan: A plan with one change set of one request.
    @_optimize(none)
    func sendSingle(
        _ plan: UploadPlan, _ requests: [[WireRequest]], _ batch: BatchID, _ serviceProfile: ServiceProfile,
        _ state: inout UploadState,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> [ChangeSetOutcome] {
        // A response must never end operations that were not sent.
        guard plan.changeSets.count == 1, plan.changeSets[0].requests.count == 1, let request = requests.first?.first
        else { return [] }
        let contentID = plan.changeSets[0].requests[0].contentID
        let response: WireResponse
        do throws(TidelogError) {
            report.batches += 1
            report.bytesSent += request.body.count + plan.streamBytes
            response = try await modify(request, of: plan)
        } catch {
            if let refused = plan.refusal(error, contentID) { return [refused] }
            if let doubt = state.doubt(plan, error) { return [doubt] }
            try await failed(batch, plan, error)
            throw error
        }
        switch SingleResponse(response) {
        case .done: return [.members([response])]
        case .refused: return [.failed(response, culprit: contentID)]
        case .untouched:
            if response.isForeignRefusal, await answersParts(serviceProfile, &state, &report) {
                return [.failed(response, culprit: contentID)]
            }
            try await store.withdraw(batch, plan)
        case .unknown:
            if let outcome = state.doubt(plan, response, request.method, session.absolute(request.url)) {
                return [outcome]
            }
            let reason = "The service responded with status \(response.status) without an OData error."
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
        }
        try ServiceSession.check(response, request.method, session.absolute(request.url))
        return [.notProcessed]
    }
}

/// The interpretation of a single request's response status.
enum SingleResponse {
    case done
    /// The request was not processed, permanently or temporarily.
    case refused
    /// The service did not examine the request, and would not examine further requests either.
    case untouched
    /// The request may have been processed. A gateway timeout has this form.
    case unknown

    init(_ response: WireResponse) {
        let speaksOData = ServiceErrorReader.read(response.body) != nil
        switch response.status {
        case 200..<300: self = .done
        case 403: self = speaksOData ? .refused : .untouched
        case 503: self = response.isFromService ? .refused : .unknown
        case 300..<400, 401, 407: self = .untouched
        case 502, 504: self = .unknown
        case 500...: self = speaksOData ? .refused : .unknown
        default: self = .refused
        }
    }
}

extension UploadPlan {
    /// Each change set as a plan of its own.
    var singleRequests: [UploadPlan] { changeSets.map { UploadPlan(changeSets: [$0]) } }
}
