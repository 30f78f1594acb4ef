public import Operations

/// Finds out what an undo takes along, and whether a redo is legal, by making the pending operations anew: one unit after
/// the other, each by the rules that it was made by.
///
/// What a rule forbids already as things are says nothing: the base may have changed under an operation since it was made.
///
/// Cost: a pass over the queue, a second one where a rule forbids something, and one more for each operation that only the
/// state behind it shows to be illegal.
extension Fold {
    /// The operations that could not have been made without the chosen ones, each with the reason.
    ///
    /// Takes the pending operations off; ``settle()`` puts them on again.
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

    /// The first operation that would not be legal if the undone ones were put back; nil where all would be.
    ///
    /// Takes the pending operations off; ``settle()`` puts them on again.
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

    /// Applies the units that the scope does not take, and adds those to it that are newly forbidden. Returns false where
    /// another pass is needed: what is tolerated is not known yet, or the state has something of a unit that it should not.
    private mutating func replay(
        _ units: [[PendingOperation]], without scope: inout UndoScope, _ tolerated: Set<SequenceNumber>?
    ) throws(StateError) -> Bool {
        try rewind()
        for unit in units where !scope.take(unit) {
            let isTolerated = tolerated?.contains(unit[0].sequence) ?? false
            let trial = try attempt(unit, forced: isTolerated)
            guard let reason = trial.reason, !isTolerated else { continue }
            guard tolerated != nil else { return false }
            scope.add(unit, because: .forbidden(reason))
            if trial.hasApplied { return false }
        }
        return true
    }

    /// The units that the rules forbid with everything pending in place, by their first operation.
    private mutating func forbidden(_ units: [[PendingOperation]]) throws(StateError) -> Set<SequenceNumber> {
        try rewind()
        var found: Set<SequenceNumber> = []
        for unit in units where try attempt(unit, forced: true).reason != nil { found.insert(unit[0].sequence) }
        return found
    }

    /// - Parameter forced: whether the unit is applied all the same where a rule forbids it, as the fold does it.
    private mutating func attempt(
        _ unit: [PendingOperation], forced: Bool
    ) throws(StateError) -> (reason: OperationRefused?, hasApplied: Bool) {
        _ = takeTouched()
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
            try CardinalityRule(storage: storage, index: index).check(takeTouched())
            return nil
        } catch {
            switch error {
            case .refused(let refused): return refused
            case .state(let error): throw error
            }
        }
    }

    /// To where no pending operation is applied.
    private mutating func rewind() throws(StateError) {
        isUnwound = false
        try unwindAll()
    }
}
