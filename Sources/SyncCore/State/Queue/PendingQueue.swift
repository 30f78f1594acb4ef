package import EDM
package import Operations

/// The queue in memory, indexed by the entities to which operations refer, by transaction, and by subject.
///
/// A storage changes it within a transaction: ``rollBack()`` reverts all changes since ``begin()``.
///
/// Not `Sendable`: it belongs to one ``QueueTable``. A class, because a lookup in a value that a class stores may copy
/// the value.
package final class PendingQueue {
    /// An operation in one of two forms.
    fileprivate enum StoredOperation {
        case decoded(Operation)
        case encoded([UInt8])

        var isDecoded: Bool { if case .decoded = self { true } else { false } }
    }

    /// The subjects of an operation; see ``StateReader/subjects(of:_:after:)``. The usual one is stored in place.
    fileprivate enum Subjects {
        case one(EntityID)
        case list([EntityID])

        init(_ ids: [EntityID]) { self = ids.count == 1 ? .one(ids[0]) : .list(ids) }

        var ids: [EntityID] {
            switch self {
            case .one(let id): [id]
            case .list(let ids): ids
            }
        }
    }

    fileprivate struct Entry {
        var content: StoredOperation
        let time: Timestamp
        var since: Timestamp
        var subjects: Subjects
        var status: PendingOperation.Status
    }

    /// The number of operations that a queue keeps decoded. An encoded operation has a quarter of the size.
    package static let usualDecodedLimit = 16_384

    private var entries = IDTable<Entry>()
    private let decodedLimit: Int
    private var decodedCount = 0
    /// The names that encoded operations repeat.
    private lazy var names = NameTable()
    private var order = SequenceOrder()
    private var byEntity = IDTable<EntityQueue>()
    private var byTransaction: [String: Set<SequenceNumber>] = [:]
    private var rejected = 0
    /// The effect of each operation.
    package private(set) var effects = EffectLog()
    /// The number of operations that are not to be sent: drafts and local-only operations.
    package private(set) var heldBack = 0
    private var journal = Journal()

    /// A closure that reads the stored effects, which only a rebase needs; nil after ``loadEffects()``, and if there are
    /// none.
    package var effectsReader: (() throws(StateError) -> EffectLog)?

    /// Creates an empty queue with room for so many operations.
    ///
    /// - Parameter decodedLimit: The number of operations to keep decoded. The rest are decoded whenever they are read.
    package init(minimumCapacity: Int = 0, decodedLimit: Int = PendingQueue.usualDecodedLimit) {
        entries = IDTable(minimumCapacity: minimumCapacity)
        self.decodedLimit = decodedLimit
    }

    /// Returns an independent queue with the same operations.
    func copy() -> PendingQueue {
        let copy = PendingQueue(decodedLimit: decodedLimit)
        copy.entries = entries
        copy.decodedCount = decodedCount
        copy.effectsReader = effectsReader
        copy.order = order
        copy.byEntity = byEntity
        copy.byTransaction = byTransaction
        copy.rejected = rejected
        copy.effects = effects.copy()
        copy.heldBack = heldBack
        copy.journal = journal
        return copy
    }

    package var count: Int { order.count }
    package var hasRejected: Bool { rejected > 0 }

    package subscript(sequence: SequenceNumber) -> PendingOperation? {
        entries.place(of: sequence).flatMap { operation(sequence, at: $0) }
    }

    private func operation(_ sequence: SequenceNumber, at place: Int) -> PendingOperation? {
        guard let operation = operation(at: place) else { return nil }
        return PendingOperation(
            sequence: sequence, time: entries[at: place].time, operation: operation, status: entries[at: place].status,
            since: entries[at: place].since)
    }

    /// Returns the operation, and keeps it decoded if fewer than the limit are. An upload reads each operation several
    /// times, from the oldest on.
    private func operation(at place: Int) -> Operation? {
        guard let operation = decoded(entries[at: place].content) else { return nil }
        if decodedCount < decodedLimit, !entries[at: place].content.isDecoded {
            entries[at: place].content = .decoded(operation)
            decodedCount += 1
        }
        return operation
    }

    /// Returns the operation. Nil is not possible, because ``put(_:about:encoded:)`` was called with the operation.
    private func decoded(_ content: StoredOperation) -> Operation? {
        switch content {
        case .decoded(let operation): return operation
        case .encoded(let bytes):
            return bytes.withUnsafeBytes { try? ValueCodec.decodeOperation($0, names: names) }
        }
    }

    /// Whether the queue keeps the next operation encoded.
    package var keepsEncoded: Bool { decodedCount >= decodedLimit }

    func contains(_ sequence: SequenceNumber) -> Bool { entries.contains(sequence) }

    package func status(
        of sequence: SequenceNumber
    ) -> (status: PendingOperation.Status, since: Timestamp)? {
        entries.attributes(of: sequence).map { ($0.status, $0.since) }
    }

    /// Returns the parts of a pending operation without its content, which is large.
    package func attributes(
        of sequence: SequenceNumber
    ) -> (time: Timestamp, status: PendingOperation.Status, since: Timestamp)? {
        entries.attributes(of: sequence)
    }

    /// Appends the encoded form of an operation.
    package func write(_ sequence: SequenceNumber, to writer: inout ByteWriter) {
        guard let place = entries.place(of: sequence) else { return }
        switch entries[at: place].content {
        case .decoded(let operation): writer.operation(operation)
        case .encoded(let bytes): writer.bytes += bytes
        }
    }

    // MARK: Changes

    /// Adds the operation, or replaces the one with the same sequence number.
    ///
    /// - Parameters:
    ///   - subjects: The subjects of the operation; see ``StateReader/subjects(of:_:after:)``.
    ///   - encoded: The encoded operation, if the caller has it.
    package func put(_ operation: PendingOperation, about subjects: [EntityID], encoded: [UInt8]? = nil) {
        let sequence = operation.sequence
        // A new operation follows all pending ones.
        if let last = order.last, sequence <= last, entries.contains(sequence) {
            remove(sequence)
        } else {
            addToJournal(sequence)
        }
        let content: StoredOperation =
            keepsEncoded
            ? .encoded(encoded ?? ValueCodec.encode(operation.operation).withUnsafeBytes { Array($0) })
            : .decoded(operation.operation)
        insert(
            Entry(
                content: content, time: operation.time, since: operation.since, subjects: Subjects(subjects),
                status: operation.status),
            operation.operation, for: sequence)
    }

    /// - Precondition: The queue does not contain the operation.
    private func insert(_ entry: Entry, _ operation: Operation, for sequence: SequenceNumber) {
        if entry.content.isDecoded { decodedCount += 1 }
        if operation.delivery != .queued { heldBack += 1 }
        byEntity.insert(sequence, operation)
        if let name = operation.transactionID { byTransaction[name, default: []].insert(sequence) }
        count(entry.subjects, 1, rejected: entry.status.kind == .rejected ? 1 : 0)
        entries.updateValue(entry, for: sequence)
        order.insert(sequence)
    }

    package func setStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) {
        guard let place = entries.place(of: sequence) else { return }
        addToJournal(sequence)
        let wasRejected = entries[at: place].status.kind == .rejected
        entries[at: place].status = status
        entries[at: place].since = since
        let change: Int32 = (status.kind == .rejected ? 1 : 0) - (wasRejected ? 1 : 0)
        if change != 0 { count(entries[at: place].subjects, 0, rejected: change) }
    }

    /// Replaces the subjects of an operation, which depend on the metadata.
    func setSubjects(_ subjects: [EntityID], of sequence: SequenceNumber) {
        guard let place = entries.place(of: sequence), entries[at: place].subjects.ids != subjects else { return }
        addToJournal(sequence)
        let rejected: Int32 = entries[at: place].status.kind == .rejected ? 1 : 0
        count(entries[at: place].subjects, -1, rejected: -rejected)
        entries[at: place].subjects = Subjects(subjects)
        count(entries[at: place].subjects, 1, rejected: rejected)
    }

    /// Removes the operation. Its effect remains until ``removeEffect(of:)``.
    package func remove(_ sequence: SequenceNumber) {
        addToJournal(sequence)
        guard let gone = entries.removeValue(for: sequence) else { return }
        if gone.content.isDecoded { decodedCount -= 1 }
        order.remove(sequence)
        count(gone.subjects, -1, rejected: gone.status.kind == .rejected ? -1 : 0)
        guard let operation = decoded(gone.content) else { return }
        if operation.delivery != .queued { heldBack -= 1 }
        byEntity.remove(sequence, operation)
        if let name = operation.transactionID {
            byTransaction[name]?.remove(sequence)
            if byTransaction[name]?.isEmpty == true { byTransaction[name] = nil }
        }
    }

    private func count(_ subjects: Subjects, _ all: Int32, rejected: Int32) {
        self.rejected += Int(rejected)
        switch subjects {
        case .one(let id): byEntity.count(id, all, rejected: rejected)
        case .list(let ids): for id in ids { byEntity.count(id, all, rejected: rejected) }
        }
    }

    // MARK: Effects

    /// Reads the stored effects if they were not read yet. Must be called before any effect is read or changed.
    func loadEffects() throws(StateError) {
        guard let reader = effectsReader.take() else { return }
        // Not a change of the transaction: after a rollback, the effects are the stored ones.
        effects = try reader()
    }

    package func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) {
        recordEffect(sequence)
        effects.put(effect, of: sequence)
    }

    package func removeEffect(of sequence: SequenceNumber) {
        recordEffect(sequence)
        effects.remove(sequence)
    }

    package func removeEffects() {
        journal.storeEffects(effects)
        effects = EffectLog()
    }

    // MARK: Queries

    /// The sequence numbers in ascending order.
    package var sequences: ArraySlice<SequenceNumber> { order.from(0, limit: .max) }

    /// Returns at most `limit` operations from `first` on, in ascending order.
    package func operations(from first: SequenceNumber, limit: Int) -> [PendingOperation] {
        let sequences = order.from(first, limit: limit)
        var found: [PendingOperation] = []
        found.reserveCapacity(sequences.count)
        for sequence in sequences {
            if let operation = self[sequence] { found.append(operation) }
        }
        return found
    }

    /// Returns the operations with a status of this kind, in ascending order. Decodes no other operations.
    func operations(_ kind: PendingOperation.Status.StatusKind) -> [PendingOperation] {
        sequences.compactMap { sequence in
            guard let place = entries.place(of: sequence), entries[at: place].status.kind == kind else { return nil }
            return operation(sequence, at: place)
        }
    }

    package func naming(_ id: EntityID) -> [SequenceNumber] {
        byEntity.place(of: id).map { byEntity[at: $0].naming } ?? []
    }

    package func changing(_ id: EntityID) -> [SequenceNumber] {
        byEntity.place(of: id).map { byEntity[at: $0].changing } ?? []
    }

    /// Returns the pending creation of the entity.
    func creation(of id: EntityID) -> Creation? {
        byEntity.place(of: id).flatMap { byEntity[at: $0].firstNaming }.flatMap {
            self[$0]?.operation.creation(of: id)
        }
    }

    package func hasChange(of id: EntityID) -> Bool {
        byEntity.place(of: id).map { byEntity[at: $0].hasChange } ?? false
    }

    package func last(inTransaction name: String) -> SequenceNumber? { byTransaction[name]?.max() }

    package func pendingState(of id: EntityID) -> PendingState {
        guard let place = byEntity.place(of: id), byEntity[at: place].about > 0 else { return .clean }
        return byEntity[at: place].rejected > 0 ? .rejected : .pending
    }

    package func subjects(of sequence: SequenceNumber) -> [EntityID] {
        entries.place(of: sequence).map { entries[at: $0].subjects.ids } ?? []
    }

    // MARK: Transactions

    /// Starts a transaction: changes from now on can be rolled back.
    package func begin() { journal = Journal(last: max(order.last ?? 0, effects.last)) }

    package func commit() { journal = Journal() }

    /// Reverts every change since ``begin()``.
    package func rollBack() {
        let undo = journal
        guard let last = undo.last else { return }
        journal = Journal()
        for sequence in order.from(last, limit: .max) where sequence > last { remove(sequence) }
        for (sequence, former) in zip(undo.operations.ids, undo.operations.values) {
            remove(sequence)
            if let former, let operation = decoded(former.content) { insert(former, operation, for: sequence) }
        }
        // Copied, because a copy of the queue may have the same journal.
        if let former = undo.formerEffects { effects = former.copy() }
        for sequence in undo.newEffects { effects.remove(sequence) }
        for (sequence, former) in zip(undo.effects.ids, undo.effects.values) {
            if let former { effects.put(former.effect, of: sequence) } else { effects.remove(sequence) }
        }
    }

    private func addToJournal(_ sequence: SequenceNumber) {
        guard let last = journal.last, sequence <= last, !journal.operations.contains(sequence) else { return }
        journal.operations.updateValue(entries[sequence], for: sequence)
    }

    private func recordEffect(_ sequence: SequenceNumber) {
        guard let last = journal.last, journal.formerEffects == nil else { return }
        if sequence > last {
            journal.newEffects.append(sequence)
        } else if !journal.effects.contains(sequence) {
            journal.effects.updateValue(effects.list(of: sequence), for: sequence)
        }
    }

    /// The content before the changes of a transaction.
    private struct Journal {
        /// The last operation that existed or had an effect, or nil outside a transaction. All later ones were added in
        /// the transaction.
        private(set) var last: SequenceNumber?
        var operations = IDTable<Entry?>()
        var effects = IDTable<EffectLog.EffectList?>()
        /// The operations after `last` that got an effect, with duplicates.
        var newEffects: [SequenceNumber] = []
        /// All effects, if they were removed together. Entries of `effects` were changed before that.
        private(set) var formerEffects: EffectLog?

        init(last: SequenceNumber? = nil) { self.last = last }

        mutating func storeEffects(_ all: EffectLog) {
            if last != nil, formerEffects == nil { formerEffects = all }
        }
    }
}

// Of the table as a whole, because each access to a property of a class is checked.
extension IDTable<PendingQueue.Entry> {
    fileprivate func attributes(
        of sequence: SequenceNumber
    ) -> (time: Timestamp, status: PendingOperation.Status, since: Timestamp)? {
        guard let place = place(of: sequence) else { return nil }
        return (values[place].time, values[place].status, values[place].since)
    }
}
