package import Operations

/// The pending operations in memory, found by the entities that they name, by their transaction, and by what they are about.
///
/// A storage changes it inside of a transaction: ``rollBack()`` takes back everything since ``begin()``.
package struct PendingQueue {
    private var operations: [SequenceNumber: PendingOperation] = [:]
    private var order = SequenceOrder()
    private var byEntity: [EntityID: SmallSet<SequenceNumber>] = [:]
    private var byChanged: [EntityID: SmallSet<SequenceNumber>] = [:]
    private var byTransaction: [String: Set<SequenceNumber>] = [:]
    private var standings = StandingCounts()
    /// What each operation read and wrote when it was applied.
    package private(set) var effects = EffectLog()
    /// How many operations are not to be sent.
    package private(set) var heldBack = 0
    private var journal: Journal?

    package init() {}

    package var count: Int { order.count }
    package var hasRejected: Bool { standings.hasRejected }

    package subscript(sequence: SequenceNumber) -> PendingOperation? { operations[sequence] }

    package func status(
        of sequence: SequenceNumber
    ) -> (status: PendingOperation.Status, since: Timestamp)? {
        guard let index = operations.index(forKey: sequence) else { return nil }
        return (operations.values[index].status, operations.values[index].since)
    }

    // MARK: Changes

    /// Adds the operation, or replaces the one with the same sequence number.
    ///
    /// - Parameter subjects: the entities that the operation is about; see ``StateReader/subjects(of:)``.
    package mutating func put(_ operation: PendingOperation, about subjects: [EntityID]) {
        let sequence = operation.sequence
        remove(sequence)
        operations[sequence] = operation
        order.insert(sequence)
        if operation.operation.delivery != .queued { heldBack += 1 }
        operation.operation.forEachTouched { id in
            byEntity[id, default: SmallSet()].insert(sequence)
            if operation.operation.changes(id) { byChanged[id, default: SmallSet()].insert(sequence) }
        }
        if let name = operation.operation.transactionID { byTransaction[name, default: []].insert(sequence) }
        standings.add(subjects, of: sequence, isRejected: operation.status.kind == .rejected)
    }

    package mutating func setStatus(
        _ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber
    ) {
        guard let index = operations.index(forKey: sequence) else { return }
        note(sequence)
        operations.values[index].status = status
        operations.values[index].since = since
        standings.setRejected(status.kind == .rejected, of: sequence)
    }

    /// Removes the operation. What it read and wrote stays until ``removeEffect(of:)``.
    package mutating func remove(_ sequence: SequenceNumber) {
        note(sequence)
        guard let gone = operations.removeValue(forKey: sequence) else { return }
        if gone.operation.delivery != .queued { heldBack -= 1 }
        order.remove(sequence)
        gone.operation.forEachTouched { id in
            byEntity.remove(sequence, of: id)
            byChanged.remove(sequence, of: id)
        }
        if let name = gone.operation.transactionID {
            byTransaction[name]?.remove(sequence)
            if byTransaction[name]?.isEmpty == true { byTransaction[name] = nil }
        }
        standings.remove(sequence)
    }

    package mutating func putEffect(_ effect: OperationEffect, of sequence: SequenceNumber) {
        noteEffect(sequence)
        effects.put(effect, of: sequence)
    }

    package mutating func removeEffect(of sequence: SequenceNumber) {
        noteEffect(sequence)
        effects.remove(sequence)
    }

    package mutating func removeEffects() {
        journal?.keep(effects)
        effects = EffectLog()
    }

    // MARK: Queries

    /// The sequence numbers in ascending order.
    package var sequences: ArraySlice<SequenceNumber> { order.from(0, limit: .max) }

    /// Returns the first operations from `first` on, in ascending order.
    package func operations(from first: SequenceNumber, limit: Int) -> [PendingOperation] {
        order.from(first, limit: limit).compactMap { operations[$0] }
    }

    package func naming(_ id: EntityID) -> [SequenceNumber] { byEntity[id]?.elements.sorted() ?? [] }
    package func changing(_ id: EntityID) -> [SequenceNumber] { byChanged[id]?.elements.sorted() ?? [] }
    package func hasChange(of id: EntityID) -> Bool { byChanged[id] != nil }
    package func last(inTransaction name: String) -> SequenceNumber? { byTransaction[name]?.max() }
    package func standing(of id: EntityID) -> PendingStanding { standings[id] }
    package func subjects(of sequence: SequenceNumber) -> [EntityID] { standings.subjects(of: sequence) }

    // MARK: Transactions

    /// Remembers what changes from now on.
    package mutating func begin() { journal = Journal() }

    package mutating func commit() { journal = nil }

    /// Takes back every change since ``begin()``.
    package mutating func rollBack() {
        guard let undo = journal else { return }
        journal = nil
        for (sequence, former) in undo.operations {
            if let former { put(former.operation, about: former.subjects) } else { remove(sequence) }
        }
        if let former = undo.formerEffects { effects = former }
        for (sequence, former) in undo.effects {
            if let former { effects.put(former, of: sequence) } else { effects.remove(sequence) }
        }
    }

    private mutating func note(_ sequence: SequenceNumber) {
        guard journal != nil, journal?.operations[sequence] == nil else { return }
        let former = operations[sequence].map { (operation: $0, subjects: standings.subjects(of: sequence)) }
        journal?.operations[sequence] = .some(former)
    }

    private mutating func noteEffect(_ sequence: SequenceNumber) {
        guard journal != nil, journal?.formerEffects == nil, journal?.effects[sequence] == nil else { return }
        journal?.effects[sequence] = .some(effects[sequence])
    }

    /// What was there before a transaction changed it.
    private struct Journal {
        var operations: [SequenceNumber: (operation: PendingOperation, subjects: [EntityID])?] = [:]
        var effects: [SequenceNumber: OperationEffect?] = [:]
        /// All effects, if they were removed together. What `effects` holds had changed before.
        var formerEffects: EffectLog?

        mutating func keep(_ all: EffectLog) { if formerEffects == nil { formerEffects = all } }
    }
}

/// What the pending operations mean for an entity that they are about; see ``StateReader/subjects(of:)``.
public enum PendingStanding: Sendable, Hashable {
    /// None is about it.
    case clean
    case pending
    /// At least one of them was rejected.
    case rejected
}

/// How many pending operations are about each entity.
private struct StandingCounts {
    private struct Count {
        var all: Int32 = 0
        var rejected: Int32 = 0
    }

    private struct Entry {
        let subjects: [EntityID]
        var isRejected: Bool
    }

    private var counts: [EntityID: Count] = [:]
    private var entries: [SequenceNumber: Entry] = [:]
    private var rejected = 0

    var hasRejected: Bool { rejected > 0 }

    subscript(id: EntityID) -> PendingStanding {
        guard let count = counts[id] else { return .clean }
        return count.rejected > 0 ? .rejected : .pending
    }

    func subjects(of sequence: SequenceNumber) -> [EntityID] { entries[sequence]?.subjects ?? [] }

    mutating func add(_ subjects: [EntityID], of sequence: SequenceNumber, isRejected: Bool) {
        entries[sequence] = Entry(subjects: subjects, isRejected: isRejected)
        change(subjects, all: 1, rejected: isRejected ? 1 : 0)
    }

    mutating func remove(_ sequence: SequenceNumber) {
        guard let gone = entries.removeValue(forKey: sequence) else { return }
        change(gone.subjects, all: -1, rejected: gone.isRejected ? -1 : 0)
    }

    mutating func setRejected(_ isRejected: Bool, of sequence: SequenceNumber) {
        guard let entry = entries[sequence], entry.isRejected != isRejected else { return }
        entries[sequence]?.isRejected = isRejected
        change(entry.subjects, all: 0, rejected: isRejected ? 1 : -1)
    }

    private mutating func change(_ subjects: [EntityID], all: Int32, rejected: Int32) {
        self.rejected += Int(rejected)
        for id in subjects {
            counts[id, default: Count()].all += all
            counts[id]?.rejected += rejected
            if counts[id]?.all == 0 { counts[id] = nil }
        }
    }
}

extension [EntityID: SmallSet<SequenceNumber>] {
    fileprivate mutating func remove(_ sequence: SequenceNumber, of id: EntityID) {
        self[id]?.remove(sequence)
        if self[id]?.isEmpty == true { self[id] = nil }
    }
}
