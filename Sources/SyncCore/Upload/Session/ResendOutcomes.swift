package import ODataWire

/// The outcomes that the response to a repeated request determines.
package struct ResendOutcomes: Sendable, Hashable {
    /// The positions of the sent change sets that have an outcome.
    package private(set) var places: [Int] = []
    package private(set) var outcomes: [ChangeSetOutcome] = []
    /// The positions of the change sets that the service skipped after an earlier error.
    package private(set) var skipped: [Int] = []

    /// Interprets the response to a repetition.
    ///
    /// - Parameter answered: One outcome for each sent change set, or fewer if the response does not contain them all.
    package init(_ answered: [ChangeSetOutcome]) {
        for (place, outcome) in answered.enumerated() {
            switch outcome {
            case .members: break
            // A refusal without `Repeatability-Result: accepted` may concern only the repetition: it was too late
            // (412), or the service does not support repetitions and refuses an operation that it has already
            // processed.
            case .failed(let answer, _): guard answer.acceptsRepetition == true else { continue }
            case .notProcessed:
                skipped.append(place)
                continue
            case .inDoubt: continue
            }
            places.append(place)
            outcomes.append(outcome)
        }
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
