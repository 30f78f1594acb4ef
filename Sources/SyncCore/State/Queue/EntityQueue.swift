import EDM
import Operations

/// The operations of one entity.
///
/// Small, because a queue of new entities has one of them for each operation: the only operation of most entities is
/// stored inline. Removing one of the first operations does not move the later ones.
struct EntityQueue {
    /// A sequence number, and whether the operation changes the entity, in the lowest bit. Ordered by the number, which is
    /// below 2^63 except in damaged files.
    private typealias Entry = UInt64

    /// The first operation; 0 for none.
    private var first: Entry = 0
    /// The other operations in ascending order. The first ``start`` of them are removed.
    private var rest: [Entry] = []
    private var start: Int32 = 0
    /// The number of operations that change the entity.
    private var changes: Int32 = 0
    /// The number of operations with the entity as subject, and how many of these were rejected.
    var about: Int32 = 0
    var rejected: Int32 = 0

    var isEmpty: Bool { about == 0 && first == 0 }
    /// Whether an operation changes the entity.
    var hasChange: Bool { changes > 0 }
    /// The first operation that names the entity.
    var firstNaming: SequenceNumber? { first == 0 ? nil : first &>> 1 }
    /// The operations that name the entity, in ascending order.
    var naming: [SequenceNumber] { numbers(onlyChanges: false) }
    /// The operations that change the entity, in ascending order.
    var changing: [SequenceNumber] { hasChange ? numbers(onlyChanges: true) : [] }

    private func numbers(onlyChanges: Bool) -> [SequenceNumber] {
        var found: [SequenceNumber] = []
        if first == 0 { return found }
        found.reserveCapacity(1 + rest.count - Int(start))
        if !onlyChanges || first & 1 == 1 { found.append(first &>> 1) }
        for entry in rest[Int(start)...] where !onlyChanges || entry & 1 == 1 { found.append(entry &>> 1) }
        return found
    }

    /// Adds an operation, unless the queue contains it.
    mutating func insert(_ sequence: SequenceNumber, changes isChange: Bool) {
        let new = sequence &<< 1 | (isChange ? 1 : 0)
        if first == 0 {
            first = new
        } else if first &>> 1 == sequence {
            return
        } else if new < first {
            rest.insert(first, at: Int(start))
            first = new
        } else {
            let place = place(of: sequence)
            if place < rest.count, rest[place] &>> 1 == sequence { return }
            if place == rest.count { rest.append(new) } else { rest.insert(new, at: place) }
        }
        if isChange { changes += 1 }
    }

    mutating func remove(_ sequence: SequenceNumber) {
        var removed = first
        if first &>> 1 == sequence, first != 0 {
            first = Int(start) < rest.count ? rest[Int(start)] : 0
            if first != 0 { start += 1 }
        } else {
            let place = place(of: sequence)
            guard place < rest.count, rest[place] &>> 1 == sequence else { return }
            removed = rest[place]
            if place - Int(start) < rest.count - place {
                // Moves the earlier ones, which are few if the oldest operations end and one of them remains.
                for later in stride(from: place, to: Int(start), by: -1) { rest[later] = rest[later - 1] }
                start += 1
            } else {
                rest.remove(at: place)
            }
        }
        if removed & 1 == 1 { changes -= 1 }
        if Int(start) > rest.count / 2 {
            rest.removeFirst(Int(start))
            start = 0
        }
    }

    /// Returns the index of the operation in ``rest``, or the index at which to insert it.
    private func place(of sequence: SequenceNumber) -> Int {
        guard let last = rest.last, sequence <= last &>> 1 else { return rest.count }
        var (low, high) = (Int(start), rest.count)
        while low < high {
            let middle = (low + high) / 2
            if rest[middle] &>> 1 < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// Changes of the table as a whole, because each access to a property of a class is checked.
extension IDTable<EntityQueue> {
    mutating func insert(_ sequence: SequenceNumber, _ operation: Operation) {
        operation.forEachTouched { id in
            self[at: place(of: id, inserting: EntityQueue())].insert(sequence, changes: operation.changes(id))
        }
    }

    mutating func remove(_ sequence: SequenceNumber, _ operation: Operation) {
        operation.forEachTouched { id in
            guard let place = place(of: id) else { return }
            self[at: place].remove(sequence)
            if self[at: place].isEmpty { removeValue(for: id) }
        }
    }

    mutating func count(_ subject: EntityID, _ all: Int32, rejected: Int32) {
        let place = place(of: subject, inserting: EntityQueue())
        self[at: place].about += all
        self[at: place].rejected += rejected
        if self[at: place].isEmpty { removeValue(for: subject) }
    }
}

/// The status of an entity that follows from the pending operations; see ``StateReader/subjects(of:_:after:)``.
package enum PendingState: Sendable, Hashable {
    /// The entity is not a subject of a pending operation.
    case clean
    case pending
    /// At least one of the operations was rejected.
    case rejected
}
