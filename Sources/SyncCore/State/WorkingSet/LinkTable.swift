import Operations

/// The links of a working set: all links of a state, or those that differ from the ones below.
struct LinkTable {
    typealias Key = TouchedItems.LinkEnds

    private(set) var links: [Key: LinkRow] = [:]
    /// The links that are removed from what is below.
    private(set) var removed: Set<Key> = []
    /// The keys of both, by the entities at either end.
    private var byEntity = IDTable<SmallSet<Key>>()
    /// The links in which base and local state differ.
    private var changedKeys: Set<Key> = []

    var isEmpty: Bool { links.isEmpty && removed.isEmpty }
    var count: Int { links.count + removed.count }

    subscript(key: Key) -> LinkRow? { links[key] }

    var changed: [LinkRow] { changedKeys.compactMap { links[$0] } }

    func contains(_ key: Key) -> Bool { links[key] != nil || !removed.isEmpty && removed.contains(key) }

    /// Returns the links that differ from those below at an entity.
    func keys(of id: EntityID) -> [Key] {
        byEntity.place(of: id).map { byEntity[at: $0].elements } ?? []
    }

    /// Returns the link that was there before.
    @discardableResult
    mutating func put(_ link: LinkRow) -> LinkRow? {
        let key = Key(link)
        if !removed.isEmpty { removed.remove(key) }
        if link.inBase != link.inLocal {
            changedKeys.insert(key)
        } else if !changedKeys.isEmpty {
            changedKeys.remove(key)
        }
        if let old = links.updateValue(link, forKey: key) { return old }
        note(key, of: link.first)
        note(key, of: link.second)
        return nil
    }

    /// Returns the link that was there before.
    ///
    /// - Parameter hidesBelow: whether there may be a link below.
    @discardableResult
    mutating func remove(_ key: Key, hidesBelow: Bool) -> LinkRow? {
        let old = links.removeValue(forKey: key)
        changedKeys.remove(key)
        if hidesBelow {
            removed.insert(key)
            note(key, of: key.first)
            note(key, of: key.second)
        } else {
            forget(key, of: key.first)
            forget(key, of: key.second)
        }
        return old
    }

    enum Found {
        case link(LinkRow)
        case removed
        /// What the storage below has.
        case below
    }

    func find(_ key: Key) -> Found {
        if let link = links[key] { return .link(link) }
        return !removed.isEmpty && removed.contains(key) ? .removed : .below
    }

    /// Brings the place of a link back to what ``find(_:)`` returned before.
    mutating func restore(_ key: Key, to former: Found) {
        switch former {
        case .link(let link): put(link)
        case .removed: remove(key, hidesBelow: true)
        case .below:
            remove(key, hidesBelow: false)
            removed.remove(key)
        }
    }

    private mutating func forget(_ key: Key, of id: EntityID) {
        guard let place = byEntity.place(of: id) else { return }
        byEntity[at: place].remove(key)
        if byEntity[at: place].isEmpty { byEntity.removeValue(for: id) }
    }

    private mutating func note(_ key: Key, of id: EntityID) {
        let place = byEntity.place(of: id, inserting: SmallSet())
        byEntity[at: place].insert(key)
    }

    mutating func removeAll() {
        let keeps = links.count < 4_096
        links.removeAll(keepingCapacity: keeps)
        byEntity.removeAll()
        removed.removeAll()
        changedKeys.removeAll(keepingCapacity: keeps)
    }
}

extension TouchedItems.LinkEnds {
    init(_ link: LinkRow) { self.init(relationship: link.relationship, first: link.first, second: link.second) }
}
