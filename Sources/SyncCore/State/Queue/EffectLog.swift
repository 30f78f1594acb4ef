package import Operations

/// The effects of pending operations, by operation and by item.
///
/// The accesses of an operation are contiguous in one array, and its links in another. The accesses to an item form a
/// linked list, which is completed when it is read. A removal marks the operation's accesses; both arrays are compacted
/// when most accesses are marked.
package struct EffectLog {
    struct StoredAccess {
        let item: StateItem
        /// Zero if the access was removed.
        var operation: SequenceNumber
        /// The index of the preceding access to the same item, or -1 if there is none. Set by ``linkAccesses()``.
        fileprivate(set) var previous: Int32 = -1
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

    package init() {}

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
        guard entries.contains(sequence) else { return nil }
        return EffectList(
            accesses: accesses(by: sequence).map { ($0.item, $0.access) }, links: links(of: sequence))
    }

    /// Returns the accesses of the operation: one for each item that it read or wrote.
    ///
    /// A slice, because a function with a closure would copy the whole log.
    func accesses(by sequence: SequenceNumber) -> ArraySlice<StoredAccess> {
        guard let place = entries.place(of: sequence) else { return [] }
        let own = entries[at: place].accesses
        return accesses[Int(own.lowerBound)..<Int(own.upperBound)]
    }

    /// Returns the accesses to the item, one of each operation that read or wrote it, in any order. Contains only those
    /// that ``linkAccesses()`` has linked.
    func accesses(to item: StateItem) -> ItemAccesses {
        ItemAccesses(accesses: accesses, place: newest.place(of: item.rawValue).map { newest[at: $0] } ?? -1)
    }

    /// The list of the accesses to an item.
    struct ItemAccesses: Sequence, IteratorProtocol {
        fileprivate let accesses: [StoredAccess]
        fileprivate var place: Int32

        mutating func next() -> StoredAccess? {
            while place >= 0 {
                let stored = accesses[Int(place)]
                place = stored.previous
                if stored.operation != 0 { return stored }
            }
            return nil
        }
    }

    /// Returns the links that the operation created, deleted, or found as requested. May contain duplicates.
    func links(of sequence: SequenceNumber) -> [DirtySet.LinkEnds] {
        guard let place = entries.place(of: sequence) else { return [] }
        let own = entries[at: place].links
        return Array(links[Int(own.lowerBound)..<Int(own.upperBound)])
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
