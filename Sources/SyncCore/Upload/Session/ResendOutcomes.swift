package import ODataWire

/// The outcomes that the response to a repeated request determines.
package struct ResendOutcomes: Sendable, Hashable {
    /// The change sets whose outcome is determined.
    package private(set) var answered: UploadedBatch
    /// The positions of the change sets that the service skipped after an earlier error.
    package private(set) var skipped: [Int] = []

    /// Interprets the response to a repetition.
    ///
    /// - Parameters:
    ///   - batch: The sent change sets with their outcomes.
    ///   - requiresResult: Whether a success also counts only with `Repeatability-Result: accepted`, as OASIS
    ///     Repeatable Requests 1.0 requires (section 4).
    package init(_ batch: UploadedBatch, requiresResult: Bool = false) {
        answered = batch.part([])
        for (place, changeSet) in batch.changeSets.enumerated() {
            switch changeSet.outcome {
            // Without the header, the repetition may have been executed again, so only reading shows the state.
            case .members(let responses):
                guard responses.isSingleExecution(requiresResult: requiresResult) else { continue }
            // A refusal without `Repeatability-Result: accepted` may concern only the repetition: it was too late
            // (412), or the service does not support repetitions and refuses an operation that it has already
            // processed.
            case .failed(let answer, _): guard answer.acceptsRepetition == true else { continue }
            case .notProcessed:
                skipped.append(place)
                continue
            case .inDoubt, nil: continue
            }
            answered.changeSets.append(changeSet)
        }
    }
}

extension [WireResponse] {
    /// Whether the service guarantees that the requests of a successful change set were executed once.
    fileprivate func isSingleExecution(requiresResult: Bool) -> Bool {
        let results = compactMap(\.acceptsRepetition)
        return !results.contains(false) && (!requiresResult || !results.isEmpty)
    }
}

extension WireResponse {
    /// Whether the service accepted the repeatable request, now or at its first transmission. Nil if the response has
    /// no such header.
    package var acceptsRepetition: Bool? {
        let result = headers["Repeatability-Result"] ?? headers["RepeatabilityResult"]
        return result.map { $0.lowercased() == "accepted" }
    }
}
