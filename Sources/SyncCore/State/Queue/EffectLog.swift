import EDM
package import Operations

/// The effects of pending operations, by operation and by item.
///
/// The accesses of an operation are contiguous, and so are its links. The accesses to an item form a linked list, which
/// is completed when it is read. A removal marks the effect; everything is compacted when most of it is marked.
///
/// Not `Sendable`: it belongs to one ``PendingQueue``. A class, because a lookup in a value that a class stores may copy
/// the value.
package final class EffectLog {
    private struct StoredEffect {
        /// Zero if the effect was removed.
        var operation: SequenceNumber
        /// The indexes of its first access and its first link. Both end where those of the next effect begin.
        let firstAccess: Int32
        let firstLink: Int32
    }

    /// An access as an element of the list of its item.
    private struct LinkedAccess {
        let effect: Int32
        /// The index of the preceding access to the same item, or -1 if there is none.
        let previous: Int32
        /// The kinds of this access and of all preceding ones to the same item.
        let kinds: Access
    }

    /// A link with the index of its relationship, because its name would be half of the size.
    private struct StoredLink {
        let relationship: Int32
        let first: EntityID
        let second: EntityID
    }

    private var effects: [StoredEffect] = []
    /// The index of the effect of each operation.
    private var places = IDTable<Int32>()
    /// The raw value of each access's item, and its kinds. Two arrays, because together they would have twice the size.
    private var items: [UInt64] = []
    private var kinds: [Access] = []
    private var links: [StoredLink] = []
    /// The relationships of the links, which are few.
    private var relationships: [String] = []
    /// The accesses of the first ``linkedCount`` effects. Only rebases of long queues read the lists, and a call with many
    /// operations would spend more time on them than on the rest of the log.
    private var linkedAccesses: [LinkedAccess] = []
    /// The number of effects whose accesses are linked.
    private var linkedCount = 0
    /// The index of the last access, by the item's raw value, among the linked ones.
    private var newest = IDTable<Int32>()
    /// The number of removed effects and of their accesses.
    private var removedCount = 0
    /// The highest number of an operation that ever had an effect here.
    private(set) var last: SequenceNumber = 0

    package init() {}

    // Arrays are read once before a loop, because each access to a property of an object is checked.

    /// Returns an independent log with the same effects. O(1), because the arrays are shared until one of them changes.
    func copy() -> EffectLog {
        let copy = EffectLog()
        (copy.effects, copy.places) = (effects, places)
        (copy.links, copy.relationships) = (links, relationships)
        (copy.items, copy.kinds) = (items, kinds)
        (copy.linkedAccesses, copy.linkedCount, copy.newest) = (linkedAccesses, linkedCount, newest)
        (copy.removedCount, copy.last) = (removedCount, last)
        return copy
    }

    /// The number of operations that have an effect.
    package var count: Int { places.count }

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
        guard let place = places[sequence].map(Int.init) else { return nil }
        let (items, kinds) = (items, kinds)
        return EffectList(
            accesses: accesses(at: place).map { (StateItem(rawValue: items[$0]), kinds[$0]) },
            links: links(of: sequence))
    }

    /// Returns the indexes of the accesses of an effect.
    private func accesses(at place: Int) -> Range<Int> {
        let end = place + 1 < effects.count ? Int(effects[place + 1].firstAccess) : items.count
        return Int(effects[place].firstAccess)..<end
    }

    /// Returns the indexes of the links of an effect.
    private func links(at place: Int) -> Range<Int> {
        let end = place + 1 < effects.count ? Int(effects[place + 1].firstLink) : links.count
        return Int(effects[place].firstLink)..<end
    }

    /// Calls `body` once for each item that the operation read or wrote. `body` must not change effects.
    func forEachAccess<Failure: Error>(
        by sequence: SequenceNumber, _ body: (StateItem, Access) throws(Failure) -> Void
    ) throws(Failure) {
        guard let place = places[sequence] else { return }
        let (items, kinds) = (items, kinds)
        for access in accesses(at: Int(place)) { try body(StateItem(rawValue: items[access]), kinds[access]) }
    }

    /// Calls `body` once for each operation that would be disturbed if it accessed the item after `earlier`, in any
    /// order. `body` must not change effects.
    ///
    /// Cost: an item that no remaining access disturbs ends the call, such as an entity to which many operations add
    /// links. The first call after new effects also completes the lists of accesses by item.
    package func forEachAccess<Failure: Error>(
        to item: StateItem, disturbedBy earlier: Access, _ body: (SequenceNumber, Access) throws(Failure) -> Void
    ) throws(Failure) {
        // Not during an outer call, which has linked them already.
        if linkedCount < effects.count { linkAccesses() }
        guard let newest = newest[item.rawValue] else { return }
        let linked = linkedAccesses
        var place = Int(newest)
        while place >= 0, earlier.disturbs(later: linked[place].kinds) {
            let operation = effects[Int(linked[place].effect)].operation
            let kind = kinds[place]
            if operation != 0, earlier.disturbs(later: kind) { try body(operation, kind) }
            place = Int(linked[place].previous)
        }
    }

    /// Returns the links that the operation created, deleted, or found as requested. May contain duplicates.
    func links(of sequence: SequenceNumber) -> [DirtySet.LinkEnds] {
        guard let place = places[sequence] else { return [] }
        return links[links(at: Int(place))].map {
            DirtySet.LinkEnds(
                relationship: relationships[Int($0.relationship)], first: $0.first, second: $0.second)
        }
    }

    private func stored(_ link: DirtySet.LinkEnds) -> StoredLink {
        var place = 0
        while place < relationships.count, !relationships[place].isExactly(link.relationship) { place += 1 }
        if place == relationships.count { relationships.append(link.relationship) }
        return StoredLink(relationship: Int32(place), first: link.first, second: link.second)
    }

    package func put(_ effect: OperationEffect, of sequence: SequenceNumber) {
        if sequence <= last { remove(sequence) }
        last = max(last, sequence)
        begin(sequence)
        items += effect.items
        kinds += effect.kinds
        for link in effect.links { links.append(stored(link)) }
    }

    /// Appends an effect, whose accesses and links follow.
    private func begin(_ sequence: SequenceNumber) {
        places.updateValue(Int32(effects.count), for: sequence)
        effects.append(
            StoredEffect(operation: sequence, firstAccess: Int32(items.count), firstLink: Int32(links.count)))
    }

    /// Completes the lists of accesses by item.
    private func linkAccesses() {
        // Moved, because a copy would be changed.
        var (linked, newest): ([LinkedAccess], IDTable<Int32>) = ([], IDTable())
        swap(&linked, &linkedAccesses)
        swap(&newest, &self.newest)
        let (items, kinds) = (items, kinds)
        for effect in linkedCount..<effects.count {
            for access in accesses(at: effect) {
                let known = newest.place(of: items[access], inserting: -1)
                let previous = newest[at: known]
                let earlier = previous < 0 ? [] : linked[Int(previous)].kinds
                linked.append(
                    LinkedAccess(effect: Int32(effect), previous: previous, kinds: kinds[access].union(earlier)))
                newest[at: known] = Int32(access)
            }
        }
        linkedCount = effects.count
        swap(&linked, &linkedAccesses)
        swap(&newest, &self.newest)
    }

    package func remove(_ sequence: SequenceNumber) {
        guard let place = places.removeValue(for: sequence).map(Int.init) else { return }
        effects[place].operation = 0
        removedCount += 1 + accesses(at: place).count
        if removedCount > 1_024, removedCount > (effects.count + items.count) / 2 { pack() }
    }

    private func pack() {
        let former = copy()
        (effects, items, kinds, links, linkedAccesses) = ([], [], [], [], [])
        places.removeAll()
        newest.removeAll()
        (linkedCount, removedCount) = (0, 0)
        for (place, effect) in former.effects.enumerated() where effect.operation != 0 {
            begin(effect.operation)
            items += former.items[former.accesses(at: place)]
            kinds += former.kinds[former.accesses(at: place)]
            links += former.links[former.links(at: place)]
        }
    }
}
