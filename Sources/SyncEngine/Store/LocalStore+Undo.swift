import EDM
public import Operations
public import SyncCore
import Views

/// Undo of operations that the service has not processed. Each call is one record, and can be redone as a whole.
extension LocalStore {
    /// Undoes operations, and those that could not have been made without them.
    ///
    /// A change set is undone as a whole. If no operation is undone, nothing is logged.
    /// - Parameter withDependants: Whether dependent operations are undone too. If false, the call is refused with
    ///   their names.
    /// - Throws: `refused(.notUndoable)` if an operation, or one that depends on it, was sent.
    public func undo(
        _ target: UndoTarget, withDependants: Bool = true
    ) async throws(TidelogError) -> UndoReport {
        let report = try transaction { () throws -> UndoReport in
            let report = try self.report(on: target)
            if !withDependants, !report.dependants.isEmpty { throw UndoPlanner.hasDependants(report) }
            guard !report.undone.isEmpty else { return report }
            try self.add(.operationsUndone(report.undone))
            _ = try self.commit()
            self.planEpoch += 1
            return report
        }
        try await acknowledge()
        return report
    }

    /// Returns the result that ``undo(_:withDependants:)`` would have, without changing anything.
    public func rehearseUndo(_ target: UndoTarget) throws(TidelogError) -> UndoReport {
        try dryRun { try self.report(on: target) }
    }

    /// Returns the undone operations in the order of their creation.
    public func undoneOperations() throws(TidelogError) -> [UndoneOperation] {
        try read { try $0.bookkeeping.undoneOperations() }
    }

    /// Restores undone operations to their old positions, change sets as a whole. Returns all redone operations.
    ///
    /// - Throws: `refused` with the rule that the state would violate. Then nothing is logged.
    public func redo(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        let redone = try transaction { () throws -> [SequenceNumber] in
            let undone = try self.undoPlanner().redoable(operations, &self.fold)
            guard !undone.isEmpty else { return [] }
            let redone = undone.map(\.sequence)
            try self.add(.operationsRedone(redone))
            _ = try self.commit()
            self.planEpoch += 1
            return redone
        }
        try await acknowledge()
        return redone
    }

    /// Redoes the last undo that was not redone. Returns the redone operations, or none if there is no such undo.
    public func redoLast() async throws(TidelogError) -> [SequenceNumber] {
        let undone = try undoneOperations()
        let last = undone.map(\.undo).max()
        return try await redo(undone.filter { $0.undo == last }.map(\.sequence))
    }

    /// Returns the operations that an undo of the target would undo. Only inside a transaction or dry run.
    func report(on target: UndoTarget) throws -> UndoReport { try undoPlanner().report(on: target, &fold) }

    private func undoPlanner() throws -> UndoPlanner {
        UndoPlanner(state: state, model: try model, serviceRoot: try service?.root)
    }
}
