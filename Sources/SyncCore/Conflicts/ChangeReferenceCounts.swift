import EDM
import Operations

/// Reference counts of the items that the pending changes of one entity concern, so that ended changes can be
/// subtracted individually.
struct ChangeReferenceCounts {
    private var properties: [String: Int] = [:]
    private var ends: [End: Int] = [:]

    private struct End: Hashable {
        let relationship: String
        let isFirst: Bool

        init(_ link: MergeBase.Link) { (relationship, isFirst) = (link.relationship, link.isFirst) }
    }

    init(
        of id: EntityID, in pending: [PendingOperation], _ resolver: EntityResolver<some StateReader>
    ) throws(StateError) {
        for pending in pending { count(try EntityChanges(of: id, in: [pending], resolver), 1) }
    }

    init(_ changes: EntityChanges) { count(changes, 1) }

    mutating func remove(_ changes: EntityChanges) { count(changes, -1) }

    private mutating func count(_ changes: EntityChanges, _ step: Int) {
        for name in changes.properties { properties[name, default: 0] += step }
        for end in changes.ends { ends[End(end.end), default: 0] += step }
    }

    func names(_ property: String) -> Bool { properties[property, default: 0] > 0 }
    func decides(_ end: MergeBase.Link) -> Bool { ends[End(end), default: 0] > 0 }
}

/// The same information, read lazily from the newest change backwards. If changes repeat the same item, the last one
/// already contains it.
struct EarlierChanges<Storage: StateReader> {
    private let id: EntityID
    private let resolver: EntityResolver<Storage>
    private var unread: [SequenceNumber]
    private var properties: Set<String> = []
    private var ends: [MergeBase.Link] = []

    init(of id: EntityID, _ resolver: EntityResolver<Storage>) throws(StateError) {
        self.id = id
        self.resolver = resolver
        unread = try resolver.storage.pendingOperations(changing: id)
    }

    mutating func names(_ property: String) throws(StateError) -> Bool {
        while !properties.contains(property) { guard try readOne() else { return false } }
        return true
    }

    mutating func decides(_ end: MergeBase.Link) throws(StateError) -> Bool {
        while !ends.contains(where: { $0.isSameEnd(end) }) { guard try readOne() else { return false } }
        return true
    }

    private mutating func readOne() throws(StateError) -> Bool {
        guard let next = unread.popLast() else { return false }
        guard let pending = try resolver.storage.pendingOperation(next) else { return true }
        let changes = try EntityChanges(of: id, in: [pending], resolver)
        properties.formUnion(changes.properties)
        ends += changes.ends.map(\.end)
        return true
    }
}
