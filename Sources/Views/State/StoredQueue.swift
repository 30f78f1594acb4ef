import EDM
import Operations
import SyncCore

/// The tables of the queue, which are read at the first access and written at the end of a transaction.
///
/// Their only index is the sequence number. All lookups use the queue in memory.
struct StoredQueue: StatementRunner {
    let connection: Connection
    /// The names that operations repeat.
    let names: NameTable
    private let putPending = Statement(
        "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    private let updatePending = Statement(PendingRow.updateStatus)
    private let removePending = Statement("DELETE FROM pending WHERE sequence = ?")
    private let putEffect = Statement("INSERT OR REPLACE INTO effects VALUES (?, ?)")

    init(_ connection: Connection, names: NameTable) {
        self.connection = connection
        self.names = names
    }

    /// Reads the queue.
    ///
    /// - Parameters:
    ///   - applied: Returns the last record that the state contains.
    ///   - subjects: Returns the subjects of an operation after earlier ones; see ``StateReader/subjects(of:_:after:)``.
    func read(
        applied: () throws(StateError) -> SequenceNumber,
        subjects: (Operation, PendingQueue) throws(StateError) -> [EntityID]
    ) throws(StateError) -> PendingQueue {
        // The pages are read once, and would fill the cache.
        try mapped { () throws(SQLiteError) in try connection.setCacheSize(512) }
        defer { try? connection.setCacheSize(Connection.usualCacheSize) }
        return try connection.untraced { () throws(StateError) in
            // Otherwise the operations, which are large values, are moved whenever the table grows. Bounded, because the
            // file may be damaged.
            let count = try first("SELECT count(*) FROM pending")?.first?.integer ?? 0
            let read = PendingQueue(minimumCapacity: min(max(0, Int(clamping: count)), 1 << 17))
            let sql = "SELECT \(PendingRow.columns) FROM pending ORDER BY sequence"
            try each(sql, []) { row throws(StateError) in
                let pending = try PendingRow.read(row, names)
                read.put(
                    pending, about: try subjects(pending.operation, read),
                    encoded: read.keepsEncoded ? PendingRow.encoded(row) : nil)
            }
            if try hasEffects(of: applied()) {
                read.effectsReader = { [unowned connection] () throws(StateError) in
                    try StoredQueue.effects(in: connection)
                }
            }
            return read
        }
    }

    /// Writes the changes to the tables, in ascending order.
    func flush(_ queue: QueueTable) throws(SQLiteError) {
        let encoded = queue.encodedOperations
        var writer = ByteWriter(minimumCapacity: 256)
        for (sequence, change) in queue.drainChanges() {
            guard let (time, status, since) = queue.pending.attributes(of: sequence) else {
                try connection.run(removePending) { $0.sequence(sequence) }
                continue
            }
            switch change {
            case .operation:
                writer.removeAll()
                queue.pending.write(sequence, to: &writer)
                try connection.run(putPending) {
                    PendingRow.bind(sequence, time, status, since, encoded: writer.bytes[...], &$0)
                }
            case .encodedOperation(let places):
                try connection.run(putPending) {
                    PendingRow.bind(sequence, time, status, since, encoded: encoded[places], &$0)
                }
            case .status:
                let values = PendingRow.values(of: status)
                try connection.run(updatePending) { binding in
                    for value in values { binding.value(value) }
                    binding.integer(since)
                    binding.sequence(sequence)
                }
            }
        }
    }

    // MARK: Effects

    /// Returns whether the effects of the operations are stored. They are valid only from a closing to the next opening,
    /// and are marked with the last applied record. There are none if the queue is so short that it is always rebased as
    /// a whole, or if the process ended without closing the views.
    private func hasEffects(of applied: SequenceNumber) throws(StateError) -> Bool {
        try first("SELECT effects_of FROM header")?.first?.integer == Int64(bitPattern: applied)
    }

    /// Returns the stored effects, or none if one cannot be decoded.
    private static func effects(in connection: Connection) throws(StateError) -> EffectLog {
        let effects = EffectLog()
        do {
            try connection.untraced {
                try connection.each("SELECT sequence, effect FROM effects", []) { row in
                    effects.put(try OperationEffect(encoded: row[1].blob ?? []), of: row.unsigned(0))
                }
            }
        } catch let error as SQLiteError {
            throw StateError(error)
        } catch {
            return EffectLog()
        }
        return effects
    }

    /// Writes the effects for the next opening. Must be called in a separate transaction at the end.
    func writeEffects(_ queue: QueueTable) throws(SQLiteError) {
        let pending = queue.pending
        guard queue.isLoaded, pending.count > Fold.usualLongQueue else { return }
        // Effects that were not read have not changed.
        if pending.effectsReader != nil { return try connection.run("UPDATE header SET effects_of = applied") }
        guard pending.effects.count == pending.count else { return }
        try connection.run("DELETE FROM effects")
        for sequence in pending.sequences {
            guard let bytes = pending.effects[sequence]?.encoded else { continue }
            try connection.run(putEffect) { binding in
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
