import EDM
import Operations
import SyncCore

/// The queue of pending operations: read from its tables when it is first asked for, and written to them at the end of a
/// transaction.
///
/// The tables have no index but the sequence number. Whatever is asked of the queue is answered in memory.
final class StoredQueue {
    /// What of an operation's row is not in the file yet.
    private enum Change {
        case status
        /// All of it, or that it is gone.
        case row
    }

    /// Empty until ``load(from:)``.
    private(set) var pending = PendingQueue()
    private var isLoaded = false
    private var changes: [SequenceNumber: Change] = [:]
    private var changedEffects: Set<SequenceNumber> = []
    private var removesEffects = false
    private var isInTransaction = false

    private let putRow = Statement(
        "INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    private let updateStatus = Statement(SQLiteState.updateStatus)
    private let removeRow = Statement("DELETE FROM pending WHERE sequence = ?")
    private let putEffect = Statement("INSERT OR REPLACE INTO effects VALUES (?, ?)")
    private let removeEffect = Statement("DELETE FROM effects WHERE sequence = ?")

    // MARK: Reading

    /// Reads the tables, unless that was done.
    func load(from state: SQLiteState) throws(StateError) {
        if isLoaded { return }
        (pending, isLoaded) = (try state.connection.untraced { () throws(StateError) in try read(state) }, true)
        if isInTransaction { pending.begin() }
    }

    private func read(_ state: SQLiteState) throws(StateError) -> PendingQueue {
        var read = PendingQueue()
        let sql = "SELECT \(SQLiteState.pendingColumns) FROM pending ORDER BY sequence"
        try state.each(sql, []) { row throws(StateError) in
            let pending = try state.pending(row)
            read.put(pending, about: try state.subjects(of: pending.operation, state.model))
        }
        try state.each("SELECT sequence, effect FROM effects", []) { row throws(StateError) in
            do throws(CodecError) {
                let effect = try OperationEffect(encoded: row[1].blob ?? [])
                read.putEffect(effect, of: UInt64(bitPattern: row.integer(0)))
            } catch {
                throw StateError(.damaged, "The views hold an operation's effect that does not decode. \(error)")
            }
        }
        return read
    }

    /// Returns the entities that the operation names.
    func entities(of sequence: SequenceNumber) -> [EntityID] {
        guard let operation = pending[sequence]?.operation else { return [] }
        return operation.touchedEntities + pending.subjects(of: sequence)
    }

    // MARK: Changes, of a queue that was loaded

    func put(_ operation: PendingOperation, about subjects: [EntityID], in state: SQLiteState) throws(StateError) {
        pending.put(operation, about: subjects)
        changes[operation.sequence] = .row
        try changed(state)
    }

    func setStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber, in state: SQLiteState
    ) throws(StateError) {
        guard pending.status(of: sequence) != nil else { return }
        pending.setStatus(status, since: since, of: sequence)
        if changes[sequence] == nil { changes[sequence] = .status }
        try changed(state)
    }

    func remove(_ sequence: SequenceNumber, in state: SQLiteState) throws(StateError) {
        pending.remove(sequence)
        changes[sequence] = .row
        try changed(state)
    }

    /// - Parameter effect: nil removes it.
    func putEffect(
        _ effect: OperationEffect?, of sequence: SequenceNumber, in state: SQLiteState
    ) throws(StateError) {
        if let effect {
            pending.putEffect(effect, of: sequence)
        } else {
            pending.removeEffect(of: sequence)
        }
        changedEffects.insert(sequence)
        try changed(state)
    }

    func removeEffects(in state: SQLiteState) throws(StateError) {
        guard pending.effects.count > 0 else { return }
        pending.removeEffects()
        changedEffects = []
        removesEffects = true
        try changed(state)
    }

    /// Without a transaction a change is one of its own.
    private func changed(_ state: SQLiteState) throws(StateError) {
        guard !isInTransaction else { return }
        try state.mapped { () throws(SQLiteError) in try flush(state) }
    }

    // MARK: Transactions

    func begin() {
        isInTransaction = true
        pending.begin()
    }

    func commit() {
        isInTransaction = false
        pending.commit()
    }

    /// Takes back what has changed since ``begin()``.
    func rollBack() {
        isInTransaction = false
        pending.rollBack()
        (changes, changedEffects, removesEffects) = ([:], [], false)
    }

    /// Writes what has changed to the tables, in ascending order.
    func flush(_ state: SQLiteState) throws(SQLiteError) {
        let connection = state.connection
        for (sequence, change) in changes.sorted(by: { $0.key < $1.key }) {
            let number = Int64(bitPattern: sequence)
            guard let operation = pending[sequence] else {
                try connection.run(removeRow) { $0.integer(number) }
                continue
            }
            switch change {
            case .row:
                let columns = state.columns(of: operation)
                try connection.run(putRow) { binding in for column in columns { binding.value(column) } }
            case .status:
                let columns = state.columns(of: operation.status)
                try connection.run(updateStatus) { binding in
                    for column in columns { binding.value(column) }
                    binding.integer(operation.since)
                    binding.integer(number)
                }
            }
        }
        changes = [:]
        try flushEffects(connection)
    }

    private func flushEffects(_ connection: Connection) throws(SQLiteError) {
        if removesEffects { try connection.run("DELETE FROM effects") }
        for sequence in changedEffects.sorted() {
            let number = Int64(bitPattern: sequence)
            guard let effect = pending.effects[sequence] else {
                try connection.run(removeEffect) { $0.integer(number) }
                continue
            }
            let bytes = effect.encoded
            try connection.run(putEffect) { binding in
                binding.integer(number)
                binding.blob(bytes)
            }
        }
        (changedEffects, removesEffects) = ([], false)
    }
}
