package import ODataWire
package import Operations

/// Trials that find out which references to new entities the service supports; see ``ReferenceRefusal``.
///
/// An operation whose rejection suggests unsupported references is planned again with fewer references. If the service
/// accepts that form, the cause is proven, and the store remembers the limit. If the service rejects it too, or no
/// simpler form exists, the references were not the cause: the operations end with the service's error, and this upload
/// does not try another form for them.
package struct ReferenceFormProbe: Sendable {
    private struct Trial {
        let limit: ServiceOptions.ContentIDReferences
        /// The rejected operations that the service has not accepted since.
        var open: Set<SequenceNumber>
    }

    private var trial: Trial?
    /// Operations for which another form was already tried.
    private var tried: Set<SequenceNumber> = []
    /// The number of times that a trial began or ended. Each time the next plan differs.
    package private(set) var count = 0

    package init() {}

    package func limited(_ options: ServiceOptions) -> ServiceOptions {
        guard let trial else { return options }
        var options = options
        options.contentIDReferences = options.contentIDReferences.limited(to: trial.limit)
        return options
    }

    /// Returns a `notProcessed` result for each operation that is to be planned again in another form.
    package mutating func withdrawn(
        _ batch: UploadedBatch, _ options: ServiceOptions
    ) -> [SequenceNumber: BatchAnswered.Result] {
        var withdrawn: [SequenceNumber: BatchAnswered.Result] = [:]
        for changeSet in batch.changeSets {
            let operations = changeSet.operations
            guard case .failed(let response, let culprit)? = changeSet.outcome, tried.isDisjoint(with: operations),
                let refusal = ReferenceRefusal(changeSet, response, culprit: culprit),
                refusal.understood != options.contentIDReferences,
                refusal.understood.limited(to: options.contentIDReferences) == refusal.understood
            else { continue }
            // Only one trial runs at a time, in a form that all of its operations support.
            let limit = trial.map { refusal.understood.limited(to: $0.limit) } ?? refusal.understood
            trial = Trial(limit: limit, open: (trial?.open ?? []).union(operations))
            count += 1
            for operation in operations { withdrawn[operation] = .notProcessed }
        }
        return withdrawn
    }

    /// Updates the trial with these results. Returns the proven limit if they end the trial successfully.
    package mutating func proven(by results: [BatchAnswered.Outcome]) -> ServiceOptions.ContentIDReferences? {
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

    /// Ends a trial without success. Returns whether a trial was running.
    @discardableResult
    package mutating func giveUp() -> Bool {
        guard let trial else { return false }
        tried.formUnion(trial.open)
        self.trial = nil
        count += 1
        return true
    }
}
