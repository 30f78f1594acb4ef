package import Operations

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
    package mutating func dependants(
        of chosen: Set<SequenceNumber>
    ) throws(StateError) -> [SequenceNumber: UndoDependency] {
        let units = PendingOperation.units(try storage.pendingOperations())
        var scope = UndoScope(chosen)
        var tolerated: Set<SequenceNumber>?
        while try !replay(units, without: &scope, tolerated) {
            if tolerated == nil { tolerated = try layers.forbidden(units) }
        }
        try layers.rewind()
        return scope.dependants
    }

    /// Returns the first operation that would be illegal after the redo of undone ones, or nil if all would be legal.
    ///
    /// Reverts the pending operations; ``finishRebase()`` reapplies them.
    package mutating func refusal(
        ofRedoing undone: [UndoneOperation]
    ) throws(StateError) -> (operation: SequenceNumber, reason: OperationRefused)? {
        let pending = try storage.pendingOperations()
        let all = (pending + undone.map(\.operation)).sorted { $0.sequence < $1.sequence }
        let before = try layers.forbidden(PendingOperation.units(pending))
        try layers.rewind()
        var refusal: (operation: SequenceNumber, reason: OperationRefused)?
        for unit in PendingOperation.units(all) {
            let isTolerated = before.contains(unit[0].sequence)
            let trial = try layers.attempt(unit, forced: isTolerated)
            guard let reason = trial.reason, !isTolerated else { continue }
            refusal = (unit[0].sequence, reason)
            break
        }
        try layers.rewind()
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
        try layers.rewind()
        for unit in units where !scope.include(unit) {
            let isTolerated = tolerated?.contains(unit[0].sequence) ?? false
            let trial = try layers.attempt(unit, forced: isTolerated)
            guard let reason = trial.reason, !isTolerated else { continue }
            guard tolerated != nil else { return false }
            scope.add(unit, because: .forbidden(reason))
            if trial.hasApplied { return false }
        }
        return true
    }
}
