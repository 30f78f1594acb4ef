import EDM
import Operations
import SyncCore

/// The tables of the queue, which are read at the first access and written at the end of a transaction.
///
/// Their only index is the sequence number. All lookups use the queue in memory.
extension SQLiteState {
    func readQueue() throws(StateError) -> PendingQueue {
        try connection.untraced { () throws(StateError) in
            var read = PendingQueue()
            let sql = "SELECT \(Self.pendingColumns) FROM pending ORDER BY sequence"
            try each(sql, []) { row throws(StateError) in
                let pending = try pending(row)
                read.put(pending, about: try subjects(of: pending.operation, model))
            }
            try readEffects(into: &read)
            return read
        }
    }

    /// Writes the changes to the tables, in ascending order.
    func flushQueue() throws(SQLiteError) {
        for (sequence, change) in queue.drainChanges() {
            guard let operation = queue.pending[sequence] else {
                try connection.run(statements.removePending) { $0.sequence(sequence) }
                continue
            }
            switch change {
            case .operation:
                try connection.run(statements.putPending) { binding in Self.bind(operation, &binding) }
            case .status:
                let columns = Self.columns(of: operation.status)
                try connection.run(statements.updatePending) { binding in
                    for column in columns { binding.value(column) }
                    binding.integer(operation.since)
                    binding.sequence(sequence)
                }
            }
        }
    }

    // MARK: Effects

    /// Reads the effects of the operations. The stored ones are valid only from a closing to the next opening, and are
    /// marked with the last applied record. There are none if the queue is so short that it is always rebased as a
    /// whole, or if the process ended without closing the views.
    private func readEffects(into read: inout PendingQueue) throws(StateError) {
        let applied = try header().applied
        guard try first("SELECT effects_of FROM header")?.first?.integer == Int64(bitPattern: applied) else { return }
        try each("SELECT sequence, effect FROM effects", []) { row throws(StateError) in
            do throws(CodecError) {
                let effect = try OperationEffect(encoded: row[1].blob ?? [])
                read.putEffect(effect, of: UInt64(bitPattern: row.integer(0)))
            } catch {
                throw StateError(
                    .damaged, "The views contain an effect of an operation that cannot be decoded. \(error)")
            }
        }
    }

    /// Writes the effects for the next opening. Must be called in a separate transaction at the end.
    func writeEffects() throws(SQLiteError) {
        let pending = queue.pending
        guard queue.isLoaded, pending.count > Fold.usualLongQueue, pending.effects.count == pending.count else {
            return
        }
        try connection.run("DELETE FROM effects")
        for sequence in pending.sequences {
            guard let bytes = pending.effects[sequence]?.encoded else { continue }
            try connection.run(statements.putEffect) { binding in
                binding.sequence(sequence)
                binding.blob(bytes)
            }
        }
        try connection.run("UPDATE header SET effects_of = applied")
    }
}

extension Binding {
    mutating func sequence(_ sequence: SequenceNumber) { integer(Int64(bitPattern: sequence)) }
}
