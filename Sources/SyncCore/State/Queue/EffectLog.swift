package import Operations

/// The effects of pending operations, by operation and by item.
///
/// The accesses of an operation are contiguous in one array, and its links in another. The accesses to an item form a
/// linked list, which is completed when it is read. A removal marks the operation's accesses; both arrays are compacted
/// when most accesses are marked.
package struct EffectLog {
    private struct StoredAccess {
        let item: StateItem
        /// Zero if the access was removed.
        var operation: SequenceNumber
        /// The index of the preceding access to the same item, or -1 if there is none. Set by ``linkAccesses()``.
        var previous: Int32 = -1
        let access: Access
    }

    private struct Entry {
        let accesses: Range<Int32>
        let links: Range<Int32>
    }

    private var accesses: [StoredAccess] = []
    private var links: [DirtySet.LinkEnds] = []
    private var entries = IDTable<Entry>()
    /// The index of the last access, by the item's raw value, among the linked ones.
    private var newest = IDTable<Int32>()
    /// The number of accesses at the start that are linked. Only rebases of long queues read the lists, and a call with
    /// many operations would spend more time on them than on the rest of the log.
    private var linkedCount = 0
    private var removedCount = 0
    /// The highest number of an operation that ever had an effect here.
    private(set) var last: SequenceNumber = 0

    /// The number of operations that have an effect.
    package var count: Int { entries.count }

    package subscript(sequence: SequenceNumber) -> OperationEffect? { list(of: sequence)?.effect }

    /// An effect as a list, which costs less than its table of items.
    struct EffectList {
        let accesses: [(item: StateItem, access: Access)]
        let links: [DirtySet.LinkEnds]

        var effect: OperationEffect {
            var effect = OperationEffect()
            for (item, access) in accesses { effect.record(item, access) }
            effect.links = links
            return effect
        }
    }

    func list(of sequence: SequenceNumber) -> EffectList? {
        guard let place = entries.place(of: sequence) else { return nil }
        return EffectList(
            accesses: entries[at: place].accesses.map { (accesses[Int($0)].item, accesses[Int($0)].access) },
            links: entries[at: place].links.map { links[Int($0)] })
    }

    /// Calls `body` once for each item that the operation read or wrote.
    func forEachAccess<Failure: Error>(
        by sequence: SequenceNumber, _ body: (StateItem, Access) throws(Failure) -> Void
    ) throws(Failure) {
        guard let entry = entries.place(of: sequence) else { return }
        for place in entries[at: entry].accesses { try body(accesses[Int(place)].item, accesses[Int(place)].access) }
    }

    /// Calls `body` once for each operation that read or wrote the item, in any order. Finds only accesses that
    /// ``linkAccesses()`` has linked.
    func forEachAccess<Failure: Error>(
        to item: StateItem, _ body: (SequenceNumber, Access) throws(Failure) -> Void
    ) throws(Failure) {
        guard let known = newest.place(of: item.rawValue) else { return }
        var next = newest[at: known]
        while next >= 0 {
            let stored = accesses[Int(next)]
            if stored.operation != 0 { try body(stored.operation, stored.access) }
            next = stored.previous
        }
    }

    /// Returns the links that the operation created, deleted, or found as requested. May contain duplicates.
    func links(of sequence: SequenceNumber) -> [DirtySet.LinkEnds] {
        entries.place(of: sequence).map { entries[at: $0].links.map { links[Int($0)] } } ?? []
    }

    package mutating func put(_ effect: OperationEffect, of sequence: SequenceNumber) {
        if sequence <= last { remove(sequence) }
        last = max(last, sequence)
        let start = Int32(accesses.count)
        effect.forEachAccess { item, access in
            accesses.append(StoredAccess(item: item, operation: sequence, access: access))
        }
        let firstLink = Int32(links.count)
        links += effect.links
        entries.updateValue(
            Entry(accesses: start..<Int32(accesses.count), links: firstLink..<Int32(links.count)), for: sequence)
    }

    var hasUnlinkedAccesses: Bool { linkedCount < accesses.count }

    /// Completes the lists of accesses by item.
    mutating func linkAccesses() {
        while linkedCount < accesses.count {
            let known = newest.place(of: accesses[linkedCount].item.rawValue, inserting: -1)
            accesses[linkedCount].previous = newest[at: known]
            newest[at: known] = Int32(linkedCount)
            linkedCount += 1
        }
    }

    package mutating func remove(_ sequence: SequenceNumber) {
        guard let gone = entries.removeValue(for: sequence) else { return }
        for place in gone.accesses { accesses[Int(place)].operation = 0 }
        removedCount += gone.accesses.count
        if removedCount > 1_024, removedCount > accesses.count / 2 { pack() }
    }

    private mutating func pack() {
        let (former, formerLinks) = (accesses, links)
        (accesses, links) = ([], [])
        newest.removeAll()
        (linkedCount, removedCount) = (0, 0)
        for sequence in entries.ids.sorted() {
            guard let entry = entries.place(of: sequence) else { continue }
            let (start, firstLink) = (Int32(accesses.count), Int32(links.count))
            for place in entries[at: entry].accesses {
                let stored = former[Int(place)]
                accesses.append(StoredAccess(item: stored.item, operation: sequence, access: stored.access))
            }
            for place in entries[at: entry].links { links.append(formerLinks[Int(place)]) }
            entries[at: entry] = Entry(
                accesses: start..<Int32(accesses.count), links: firstLink..<Int32(links.count))
        }
    }
}
