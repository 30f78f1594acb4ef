import EDM
public import Operations
import SyncCore
import Views

/// Drafts: operations that take effect locally and wait for the app before they are sent.
extension LocalStore {
    /// Releases drafts, or holds pending operations back. Change sets are changed as a whole.
    ///
    /// - Parameter delivery: `queued` or `draft`. `localOnly` can be neither set nor changed.
    /// - Returns: All operations whose delivery changed.
    /// - Throws: `refused(.notAllowed)` if an operation is not pending, was sent, or is local only.
    public func setDelivery(
        _ delivery: Delivery, of operations: [SequenceNumber]
    ) async throws(TidelogError) -> [SequenceNumber] {
        let changed = try transaction { () throws -> [SequenceNumber] in
            guard delivery != .localOnly else { throw Self.isForGood }
            var changed: [SequenceNumber] = []
            for operation in try self.withChangeSets(operations) {
                guard let pending = try self.state.pendingOperation(operation) else {
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
            try self.add(.deliveryChanged(changed, to: delivery))
            _ = try self.commit()
            self.planEpoch += 1
            return changed
        }
        try await acknowledge()
        return changed
    }

    /// Returns whether any operation waits to be sent. Drafts and local-only operations do not count.
    public func hasQueuedOperations() throws(TidelogError) -> Bool {
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
            guard let first = try state.pendingOperation(operation)?.operation.changeSet else { continue }
            var member = first
            while let other = try state.pendingOperation(member), other.operation.changeSet == first {
                // Client-only parts of a change set are never sent.
                if other.operation.delivery != .localOnly { chosen.insert(member) }
                member += 1
            }
        }
        return chosen.sorted()
    }
}
