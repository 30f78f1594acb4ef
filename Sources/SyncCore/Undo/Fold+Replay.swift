public import Operations

/// Determines the dependants of an undo, and whether a redo is legal, by reapplying the pending operations unit by unit
/// under the rules that applied when they were made.
///
/// Violations that already exist without the undo or redo are tolerated, because the base state may have changed since
/// an operation was made.
///
/// Cost: one pass over the queue, a second one if a rule forbids a unit, and one more for each operation whose
/// violation appears only in the state after it.
extension Fold {
    /// Returns the operations that could not have been made without the chosen ones, each with the reason.
    ///
    /// Reverts the pending operations; ``finishRebase()`` reapplies them.
    public mutating func dependants(
        of chosen: Set<SequenceNumber>
    ) throws(StateError) -> [SequenceNumber: Dependence] {
        let units = PendingOperation.units(try storage.pendingOperations())
        var scope = UndoScope(chosen)
        var tolerated: Set<SequenceNumber>?
        while try !replay(units, without: &scope, tolerated) {
            if tolerated == nil { tolerated = try forbidden(units) }
        }
        try rewind()
        return scope.dependants
    }

    /// Returns the first operation that would be illegal after the redo of undone ones, or nil if all would be legal.
    ///
    /// Reverts the pending operations; ``finishRebase()`` reapplies them.
    public mutating func refusal(
        ofRedoing undone: [UndoneOperation]
    ) throws(StateError) -> (operation: SequenceNumber, reason: OperationRefused)? {
        let pending = try storage.pendingOperations()
        let all = (pending + undone.map(\.operation)).sorted { $0.sequence < $1.sequence }
        let before = try forbidden(PendingOperation.units(pending))
        try rewind()
        var refusal: (operation: SequenceNumber, reason: OperationRefused)?
        for unit in PendingOperation.units(all) {
            let isTolerated = before.contains(unit[0].sequence)
            let trial = try attempt(unit, forced: isTolerated)
            guard let reason = trial.reason, !isTolerated else { continue }
            refusal = (unit[0].sequence, reason)
            break
        }
        try rewind()
        return refusal
    }

    // MARK: Passes

    /// Applies the units outside the scope, and adds newly forbidden ones to it.
    ///
    /// - Returns: False if another pass is needed, because the tolerated units are not known yet or the state contains
    ///   a part of a forbidden unit.
    private mutating func replay(
        _ units: [[PendingOperation]], without scope: inout UndoScope, _ tolerated: Set<SequenceNumber>?
    ) throws(StateError) -> Bool {
        try rewind()
        for unit in units where !scope.include(unit) {
            let isTolerated = tolerated?.contains(unit[0].sequence) ?? false
            let trial = try attempt(unit, forced: isTolerated)
            guard let reason = trial.reason, !isTolerated else { continue }
            guard tolerated != nil else { return false }
            scope.add(unit, because: .forbidden(reason))
            if trial.hasApplied { return false }
        }
        return true
    }

    /// Returns the units that violate a rule even with all pending operations in place, by their first operation.
    private mutating func forbidden(_ units: [[PendingOperation]]) throws(StateError) -> Set<SequenceNumber> {
        try rewind()
        var found: Set<SequenceNumber> = []
        for unit in units where try attempt(unit, forced: true).reason != nil { found.insert(unit[0].sequence) }
        return found
    }

    /// Applies a unit.
    ///
    /// - Parameter forced: Whether the unit is applied even if a rule forbids it, as the fold does.
    private mutating func attempt(
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

    /// Reverts all pending operations.
    private mutating func rewind() throws(StateError) {
        isReverted = false
        try revertPending()
    }
}
