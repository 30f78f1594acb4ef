import ODataWire
import Operations
import SyncCore

/// Which references to new entities an upload makes use of, where a refusal gives a reason to doubt that the service knows
/// them; see ``ReferenceRefusal``.
///
/// What was refused is planned anew in a form with fewer references. If the service takes that, it is proven that the form
/// was the matter, and the store remembers it. If it is refused as well, or no other form can say it, the form was not: the
/// operations end with the service's words, and are not tried otherwise again in this upload.
struct FormTrials {
    private struct Trial {
        let limit: ServiceOptions.ContentIDReferences
        /// Those that were refused, less those that the service has taken since.
        var open: Set<SequenceNumber>
    }

    private var trial: Trial?
    /// Operations of which another form was tried.
    private var tried: Set<SequenceNumber> = []
    /// How often a trial began or ended: as often the next plan is another one.
    private(set) var count = 0

    func limited(_ options: ServiceOptions) -> ServiceOptions {
        guard let trial else { return options }
        var options = options
        options.contentIDReferences = options.contentIDReferences.limited(to: trial.limit)
        return options
    }

    /// The operations that are to be planned in another form, as ones that the service has not come to.
    mutating func withdrawn(
        _ plan: UploadPlan, _ requests: [[WireRequest]], _ outcomes: [ChangeSetOutcome], _ options: ServiceOptions
    ) -> [SequenceNumber: BatchAnswered.Result] {
        var withdrawn: [SequenceNumber: BatchAnswered.Result] = [:]
        for (index, changeSet) in plan.changeSets.enumerated() where index < min(outcomes.count, requests.count) {
            let operations = changeSet.operations
            guard case .failed(let response, let culprit) = outcomes[index], tried.isDisjoint(with: operations),
                let refusal = ReferenceRefusal(changeSet, requests[index], response, culprit: culprit),
                refusal.understood != options.contentIDReferences,
                refusal.understood.limited(to: options.contentIDReferences) == refusal.understood
            else { continue }
            // One trial at a time, of the form that all of them can be said in.
            let limit = trial.map { refusal.understood.limited(to: $0.limit) } ?? refusal.understood
            trial = Trial(limit: limit, open: (trial?.open ?? []).union(operations))
            count += 1
            for operation in operations { withdrawn[operation] = .notProcessed }
        }
        return withdrawn
    }

    /// Returns what the service is known to understand at most, where these outcomes end a trial well.
    mutating func proven(by results: [BatchAnswered.Outcome]) -> ServiceOptions.ContentIDReferences? {
        guard var trial else { return nil }
        for outcome in results where trial.open.contains(outcome.operation) {
            switch outcome.result {
            case .confirmed: trial.open.remove(outcome.operation)
            case .rejected, .inDoubt, .deferred:
                giveUp()
                return nil
            case .notProcessed: break
            }
        }
        guard trial.open.isEmpty else {
            self.trial = trial
            return nil
        }
        self.trial = nil
        count += 1
        return trial.limit
    }

    /// Ends a trial that came to nothing. Returns whether there was one.
    @discardableResult
    mutating func giveUp() -> Bool {
        guard let trial else { return false }
        tried.formUnion(trial.open)
        self.trial = nil
        count += 1
        return true
    }
}
