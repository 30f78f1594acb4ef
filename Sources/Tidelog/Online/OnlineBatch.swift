import EDM
import ODataWire
import OfflineStore
import SyncEngine

/// A `$batch` request to the service and the responses to its parts.
struct OnlineBatch {
    let session: ServiceSession
    let encoder: RequestEncoder
    let options: ServiceOptions

    /// Sends change sets and queries in one request.
    ///
    /// - Returns: The outcome of each call, in the order of the calls. A failed call does not necessarily prevent the
    ///   calls after it.
    func process(
        _ calls: [BatchCall], _ modification: OnlineModification, _ reading: OnlineReader
    ) async throws(TidelogError) -> [BatchCallOutcome] {
        var parts: [BatchPart] = []
        var changeSets: [Int: OnlineModification.Requests] = [:]
        var nextContentID = 1
        var conditions: [Int: BatchCondition] = [:]
        let plain = calls.enumerated().map { index, call in
            guard case .conditional(let condition, let call) = call else { return call }
            conditions[index] = condition
            return call
        }
        for (index, call) in plain.enumerated() {
            switch call {
            case .conditional: throw TidelogError(.invalidRequest, "A condition contains another condition.")
            case .changes(let intents):
                let requests = try await modification.requests(of: intents, from: nextContentID)
                nextContentID = requests.nextContentID
                changeSets[index] = requests
                parts.append(.changeSet(requests.members))
            case .query(let request, let headers): parts.append(.query(try reading.part(request, headers)))
            }
        }
        var outcomes: [BatchCallOutcome] = []
        var succeeded: [Int: Bool] = [:]
        let request = BatchRequest(parts: parts, conditions: conditions)
        for (index, outcome) in try await send(request).enumerated() {
            if let condition = conditions[index], outcome.isFailedDependency, condition.value(succeeded) == false {
                succeeded[index] = false
                outcomes.append(.skipped)
                continue
            }
            do throws(TidelogError) {
                succeeded[index] = false
                switch (outcome, plain[index]) {
                case (.changeSet(let answered), _):
                    guard let requests = changeSets[index] else { throw Self.unanswered }
                    let responses = try Self.responses(of: answered)
                    outcomes.append(.changes(try await modification.results(of: requests, responses)))
                case (.query(let answered), .query(let request, let headers)):
                    let response = try Self.response(of: answered)
                    outcomes.append(.query(try await reading.answer(request, headers, response)))
                case (.query, _): throw Self.unanswered
                }
                succeeded[index] = true
            } catch {
                outcomes.append(.failed(error))
            }
        }
        return outcomes
    }

    func send(_ batch: BatchRequest) async throws(TidelogError) -> [BatchPartOutcome] {
        guard options.supportsBatch else {
            throw TidelogError(
                .unsupported,
                "The service has no $batch, and the call needs several requests that take effect together (a change set, OData 4.01 Part 1, section 11.7.7.1; in V2, MS-ODATA 2.2.7.6.1).",
                recovery: "Make separate calls, or use one deep insert.")
        }
        var headers = encoder.headers
        // Without the preference, some services end a batch at the first error, regardless of the conditions.
        if !batch.conditions.isEmpty { headers["Prefer"] = "continue-on-error=true" }
        let exchange: BatchExchange
        do throws(BatchWriteError) {
            exchange = try BatchExchange(batch, version: encoder.version, options: options, headers: headers)
        } catch {
            throw TidelogError(.invalidRequest, "The batch cannot be written: \(error)", cause: error)
        }
        let response = try await session.modify(exchange.request)
        try response.requireSuccess("POST", "$batch")
        do throws(BatchReadError) {
            return try exchange.outcomes(response)
        } catch {
            throw TidelogError(.inDoubt, "The response to the batch cannot be read: \(error)", cause: error)
        }
    }

    /// Returns the responses to a change set. Throws if the service rejected it or its outcome is unknown.
    static func responses(of outcome: ChangeSetOutcome) throws(TidelogError) -> [WireResponse] {
        switch outcome {
        case .members(let responses): return responses
        case .failed(let refusal, _):
            try refusal.requireSuccess("POST", "$batch")
            throw TidelogError(
                .notOData, "The service responded to the change set with status \(refusal.status).",
                place: "POST $batch"
            )
        case .inDoubt(let reason):
            throw TidelogError(
                .inDoubt, reason, place: "POST $batch", recovery: "Read the entities to see whether it took effect.")
        case .notProcessed: throw unanswered
        }
    }

    private static func response(of outcome: QueryOutcome) throws(TidelogError) -> WireResponse {
        switch outcome {
        case .answered(let response): return response
        case .inDoubt(let reason): throw TidelogError(.notOData, reason, place: "POST $batch")
        case .notProcessed: throw unanswered
        }
    }

    static let unanswered = TidelogError(
        .notOData, "The service did not process this part of the batch.", place: "POST $batch",
        recovery: "Correct the part that failed, and send this part again; it had no effect.")
}

extension BatchPartOutcome {
    /// Whether the service did not execute the part because of its dependencies or its condition.
    fileprivate var isFailedDependency: Bool {
        switch self {
        case .changeSet(.failed(let response, _)), .query(.answered(let response)): response.status == 424
        case .changeSet(.notProcessed), .query(.notProcessed): true
        default: false
        }
    }
}
