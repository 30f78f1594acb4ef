import Operations

/// Trials of operations under the rules that applied when they were made.
extension LayeredState {
    /// Returns the units that violate a rule even with all pending operations in place, by their first operation.
    mutating func forbidden(_ units: [[PendingOperation]]) throws(StateError) -> Set<SequenceNumber> {
        try rewind()
        var found: Set<SequenceNumber> = []
        for unit in units where try attempt(unit, forced: true).reason != nil { found.insert(unit[0].sequence) }
        return found
    }

    /// Applies a unit.
    ///
    /// - Parameter forced: Whether the unit is applied even if a rule forbids it, as the fold does.
    mutating func attempt(
        _ unit: [PendingOperation], forced: Bool
    ) throws(StateError) -> (reason: OperationRefused?, hasApplied: Bool) {
        _ = drainDirtySet()
        var reason: OperationRefused?
        for (position, pending) in unit.enumerated() {
            if reason == nil { reason = try refusal(of: pending.operation) }
            if reason != nil, !forced { return (reason, position > 0) }
            let operation = try visible(pending)
            try edit(.local) { e throws(StateError) in
                if let operation { try e.apply(operation) }
            }
        }
        if reason == nil { reason = try cardinalityRefusal() }
        return (reason, true)
    }

    private func refusal(of operation: Operation) throws(StateError) -> OperationRefused? {
        guard let model else { return nil }
        do throws(ValidationError) {
            try OperationRules(storage: storage, model: model).check(operation)
            return nil
        } catch {
            switch error {
            case .refused(let refused): return refused
            case .state(let error): throw error
            }
        }
    }

    private mutating func cardinalityRefusal() throws(StateError) -> OperationRefused? {
        guard let index else { return nil }
        do throws(ValidationError) {
            try CardinalityRule(storage: storage, index: index).check(drainDirtySet())
            return nil
        } catch {
            switch error {
            case .refused(let refused): return refused
            case .state(let error): throw error
            }
        }
    }
}
