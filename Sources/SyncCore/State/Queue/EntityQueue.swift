import EDM
import Operations

/// The operations of one entity.
struct EntityQueue {
    var naming = SmallSet<SequenceNumber>()
    var changing = SmallSet<SequenceNumber>()
    /// The number of operations with the entity as subject, and how many of these were rejected.
    var about: Int32 = 0
    var rejected: Int32 = 0

    var isEmpty: Bool { about == 0 && naming.isEmpty }
}

// Changes of the table as a whole, because each access to a property of a class is checked.
extension IDTable<EntityQueue> {
    mutating func insert(_ sequence: SequenceNumber, _ operation: Operation) {
        operation.forEachTouched { id in
            let place = place(of: id, inserting: EntityQueue())
            self[at: place].naming.insert(sequence)
            if operation.changes(id) { self[at: place].changing.insert(sequence) }
        }
    }

    mutating func remove(_ sequence: SequenceNumber, _ operation: Operation) {
        operation.forEachTouched { id in
            guard let place = place(of: id) else { return }
            self[at: place].naming.remove(sequence)
            self[at: place].changing.remove(sequence)
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
