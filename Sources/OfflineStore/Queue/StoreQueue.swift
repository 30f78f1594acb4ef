import EDM
import OperationLog
package import Operations
package import SyncCore
import Views

/// The pending operations of a store: their number and order, drafts, and undo.
package actor StoreQueue {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    // MARK: Pending operations

    /// Returns the pending operations in order.
    package func pendingOperations() throws(TidelogError) -> [PendingOperation] {
        try core.read { try $0.pendingOperations() }
    }

    /// Returns the pending operations with this status, in order. Reads no other operations.
    package func pendingOperations(
        _ kind: PendingOperation.Status.StatusKind
    ) throws(TidelogError) -> [PendingOperation] {
        try core.read { try $0.pendingOperations(kind) }
    }

    /// Returns the number of pending operations.
    package func pendingCount() throws(TidelogError) -> Int { try core.read { try $0.pendingCount() } }

    /// Returns the number of operations to send, including rejected ones and those in doubt, and the number of
    /// intentionally held ones.
    package func queueCounts() throws(TidelogError) -> (queued: Int, heldBack: Int) {
        try core.read { state in
            let heldBack = try core.views.heldBackCount()
            return (try state.pendingCount() - heldBack, heldBack)
        }
    }

    /// Returns the given operations that are still pending, in order.
    package func pendingOperations(_ operations: [SequenceNumber]) throws(TidelogError) -> [PendingOperation] {
        try core.read { state in try operations.compactMap { try state.pendingOperation($0) } }
    }

    // MARK: Drafts

    /// Releases drafts, or holds pending operations back. Change sets are changed as a whole.
    ///
    /// - Parameter delivery: `queued` or `draft`. `localOnly` can be neither set nor changed.
    /// - Returns: All operations whose delivery changed.
    /// - Throws: `refused(.notAllowed)` if an operation is not pending, was sent, or is local only.
    package func setDelivery(
        _ delivery: Delivery, of operations: [SequenceNumber]
    ) async throws(TidelogError) -> [SequenceNumber] {
        let changed = try core.transaction { () throws -> [SequenceNumber] in
            guard delivery != .localOnly else { throw Self.isForGood }
            var changed: [SequenceNumber] = []
            for operation in try self.withChangeSets(operations) {
                guard let pending = try core.state.pendingOperation(operation) else {
                    throw OperationRefused(.notAllowed, "Operation \(operation) is not pending.")
                }
                guard pending.operation.delivery != .localOnly else { throw Self.isForGood }
                guard pending.isUndoable else {
                    throw OperationRefused(
                        .notAllowed,
                        "Operation \(operation) was sent and its outcome is not known yet, so it cannot be held back.",
                        recovery:
                            "Upload to determine the outcome; if it remains in doubt, set the outcome with 'tidelog settle'."
                    )
                }
                if pending.operation.delivery != delivery { changed.append(operation) }
            }
            guard !changed.isEmpty else { return [] }
            try core.add(.deliveryChanged(changed, to: delivery))
            _ = try core.commit()
            core.planEpoch += 1
            return changed
        }
        try await core.acknowledge()
        return changed
    }

    /// Returns whether any operation waits to be sent. Drafts and local-only operations do not count.
    package func hasQueuedOperations() throws(TidelogError) -> Bool {
        try queueCounts().queued > 0
    }

    private static var isForGood: OperationRefused {
        OperationRefused(
            .notAllowed, "An operation cannot become local-only or stop being local-only after its creation.",
            recovery: "Undo the operation and perform it again.")
    }

    private func withChangeSets(_ operations: [SequenceNumber]) throws -> [SequenceNumber] {
        var chosen = Set(operations)
        for operation in operations {
            guard let first = try core.state.pendingOperation(operation)?.operation.changeSet else { continue }
            var member = first
            while let other = try core.state.pendingOperation(member), other.operation.changeSet == first {
                // Client-only parts of a change set are never sent.
                if other.operation.delivery != .localOnly { chosen.insert(member) }
                member += 1
            }
        }
        return chosen.sorted()
    }

    // MARK: Undo

    private var undoPlanner: UndoPlanner {
        get throws { try UndoPlanner(in: core) }
    }

    /// Undoes operations, and those that could not have been made without them.
    ///
    /// A change set is undone as a whole. If no operation is undone, nothing is logged.
    /// - Parameter withDependants: Whether dependent operations are undone too. If false, the call is refused with
    ///   their names.
    /// - Throws: `refused(.notUndoable)` if an operation, or one that depends on it, was sent.
    package func undo(
        _ target: UndoTarget, withDependants: Bool = true
    ) async throws(TidelogError) -> UndoReport {
        let report = try core.transaction { () throws -> UndoReport in
            let report = try self.undoPlanner.report(on: target, &self.core.fold)
            if !withDependants, !report.dependants.isEmpty { throw UndoPlanner.hasDependants(report) }
            guard !report.undone.isEmpty else { return report }
            try core.add(.operationsUndone(report.undone))
            _ = try core.commit()
            core.planEpoch += 1
            return report
        }
        try await core.acknowledge()
        return report
    }

    /// Returns the result that ``undo(_:withDependants:)`` would have, without changing anything.
    package func rehearseUndo(_ target: UndoTarget) throws(TidelogError) -> UndoReport {
        try core.dryRun { try self.undoPlanner.report(on: target, &self.core.fold) }
    }

    /// Returns the undone operations in the order of their creation.
    package func undoneOperations() throws(TidelogError) -> [UndoneOperation] {
        try core.read { try $0.bookkeeping.undoneOperations() }
    }

    /// Restores undone operations to their old positions, change sets as a whole. Returns all redone operations.
    ///
    /// - Throws: `refused` with the rule that the state would violate. Then nothing is logged.
    package func redo(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        let redone = try core.transaction { () throws -> [SequenceNumber] in
            let undone = try self.undoPlanner.redoable(operations, &core.fold)
            guard !undone.isEmpty else { return [] }
            let redone = undone.map(\.sequence)
            try core.add(.operationsRedone(redone))
            _ = try core.commit()
            core.planEpoch += 1
            return redone
        }
        try await core.acknowledge()
        return redone
    }

    /// Redoes the last undo that was not redone. Returns the redone operations, or none if there is no such undo.
    package func redoLast() async throws(TidelogError) -> [SequenceNumber] {
        let undone = try undoneOperations()
        let last = undone.map(\.undo).max()
        return try await redo(undone.filter { $0.undo == last }.map(\.sequence))
    }

    // MARK: Error archive

    /// Returns the operations that were rejected, are in doubt or wait for a conflict decision, in order.
    package func errorArchive() throws(TidelogError) -> [ErrorArchiveEntry] {
        try QueueQueries(core: core).errorArchive()
    }

    /// Returns the number of the operation for a link such as `ErrorArchive(5)`, or nil for any other link.
    package func archivedOperation(_ link: String) throws(TidelogError) -> SequenceNumber? {
        try QueueQueries(core: core).archivedOperation(link)
    }
}
