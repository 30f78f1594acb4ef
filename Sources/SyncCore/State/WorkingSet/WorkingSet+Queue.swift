import EDM
package import Operations

/// Changes of the queue, which is in memory with and without a backing.
extension WorkingSet {
    package func putPending(_ pending: PendingOperation) throws(StateError) { try putPending(pending, encoded: nil) }

    /// Adds an operation to the queue, or replaces the one with the same sequence number.
    ///
    /// - Parameter encoded: The encoded operation, if the caller has it.
    func putPending(_ operation: PendingOperation, encoded: ArraySlice<UInt8>?) throws(StateError) {
        try queue.load()
        if tracking.isActive { tracking.dirtyItems?.pending.insert(operation.sequence) }
        if tracking.keepsDigest { tracking.digest.replace(queue.pending[operation.sequence], by: operation) }
        // Only queries need the subjects.
        let subjects = backing == nil ? [] : try subjects(of: operation.operation, backing?.model, after: queue.pending)
        try queue.put(operation, about: subjects, encoded: encoded)
    }

    package func setPendingStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) throws(StateError) {
        try queue.load()
        tracking.dirtyItems?.pending.insert(sequence)
        let old = tracking.digest.isKept ? queue.pending[sequence] : nil
        try queue.setStatus(status, since: since, of: sequence)
        if let old { tracking.digest.replace(old, by: queue.pending[sequence]) }
    }

    package func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try queue.load()
        tracking.dirtyItems?.pending.insert(sequence)
        if tracking.digest.isKept { tracking.digest.replace(queue.pending[sequence], by: nil) }
        try queue.remove(sequence)
    }
}
