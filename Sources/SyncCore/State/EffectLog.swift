package import Operations

/// What pending operations read and wrote, found by operation and by item.
///
/// The accesses of an operation lie side by side in one array, and those to one item are a chain through it. Removing an
/// operation marks its accesses; the array is packed when most of it is marked.
package struct EffectLog {
    private struct StoredAccess {
        let item: StateItem
        /// Zero if it was removed.
        var operation: SequenceNumber
        /// The place of the access to the same item that was added before; -1 if there is none.
        let previous: Int32
        let access: Access
    }

    private struct Entry {
        let accesses: Range<Int32>
        let links: [Touched.LinkEnds]
    }

    private var accesses: [StoredAccess] = []
    private var entries: [SequenceNumber: Entry] = [:]
    private var newest: [StateItem: Int32] = [:]
    private var removedCount = 0

    /// How many operations have an effect.
    package var count: Int { entries.count }

    package subscript(sequence: SequenceNumber) -> OperationEffect? {
        guard let entry = entries[sequence] else { return nil }
        var effect = OperationEffect()
        for place in entry.accesses {
            let stored = accesses[Int(place)]
            effect.accesses[stored.item] = stored.access
        }
        effect.links = Set(entry.links)
        return effect
    }

    /// Returns the operations that read or wrote the item, in ascending order.
    package func accesses(of item: StateItem) -> [(operation: SequenceNumber, access: Access)] {
        var found: [(operation: SequenceNumber, access: Access)] = []
        var place = newest[item] ?? -1
        while place >= 0 {
            let stored = accesses[Int(place)]
            if stored.operation != 0 { found.append((stored.operation, stored.access)) }
            place = stored.previous
        }
        return found.sorted { $0.operation < $1.operation }
    }

    package mutating func put(_ effect: OperationEffect, of sequence: SequenceNumber) {
        remove(sequence)
        let start = Int32(accesses.count)
        for (item, access) in effect.accesses {
            let previous = newest.updateValue(Int32(accesses.count), forKey: item) ?? -1
            accesses.append(StoredAccess(item: item, operation: sequence, previous: previous, access: access))
        }
        entries[sequence] = Entry(accesses: start..<Int32(accesses.count), links: Array(effect.links))
    }

    package mutating func remove(_ sequence: SequenceNumber) {
        guard let gone = entries.removeValue(forKey: sequence) else { return }
        for place in gone.accesses { accesses[Int(place)].operation = 0 }
        removedCount += gone.accesses.count
        if removedCount > 1_024, removedCount > accesses.count / 2 { pack() }
    }

    private mutating func pack() {
        let former = accesses
        (accesses, newest, removedCount) = ([], [:], 0)
        for (sequence, entry) in entries.sorted(by: { $0.key < $1.key }) {
            let start = Int32(accesses.count)
            for place in entry.accesses {
                let stored = former[Int(place)]
                let previous = newest.updateValue(Int32(accesses.count), forKey: stored.item) ?? -1
                accesses.append(
                    StoredAccess(item: stored.item, operation: sequence, previous: previous, access: stored.access))
            }
            entries[sequence] = Entry(accesses: start..<Int32(accesses.count), links: entry.links)
        }
    }
}
