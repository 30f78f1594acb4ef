import Operations

/// The links of a working set: all links of a state, or those that differ from the backing.
struct LinkTable {
    typealias Key = DirtyItems.LinkEnds

    private(set) var links: [Key: LinkRow] = [:]
    /// The links of the backing that are removed.
    private(set) var removed: Set<Key> = []
    /// The keys of both, by the entity at either end.
    private var byEntity = IDTable<SmallSet<Key>>()
    /// The links that are only in the base state or only in the current state.
    private var changedKeys: Set<Key> = []

    var isEmpty: Bool { links.isEmpty && removed.isEmpty }
    var count: Int { links.count + removed.count }

    subscript(key: Key) -> LinkRow? { links[key] }

    var changed: [LinkRow] { changedKeys.compactMap { links[$0] } }

    func contains(_ key: Key) -> Bool { links[key] != nil || !removed.isEmpty && removed.contains(key) }

    /// Returns the links of an entity that differ from the backing.
    func keys(of id: EntityID) -> [Key] {
        byEntity.place(of: id).map { byEntity[at: $0].elements } ?? []
    }

    /// Stores a link. Returns the former one.
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
        index(key, of: link.first)
        index(key, of: link.second)
        return nil
    }

    /// Removes a link. Returns the former one.
    ///
    /// - Parameter hidesBelow: Whether the backing may contain the link.
    @discardableResult
    mutating func remove(_ key: Key, hidesBelow: Bool) -> LinkRow? {
        let old = links.removeValue(forKey: key)
        changedKeys.remove(key)
        if hidesBelow {
            removed.insert(key)
            index(key, of: key.first)
            index(key, of: key.second)
        } else {
            unindex(key, of: key.first)
            unindex(key, of: key.second)
        }
        return old
    }

    enum Found {
        case link(LinkRow)
        case removed
        /// The storage below decides.
        case below
    }

    func find(_ key: Key) -> Found {
        if let link = links[key] { return .link(link) }
        return !removed.isEmpty && removed.contains(key) ? .removed : .below
    }

    /// Restores the place of a link to the former result of ``find(_:)``.
    mutating func restore(_ key: Key, to former: Found) {
        switch former {
        case .link(let link): put(link)
        case .removed: remove(key, hidesBelow: true)
        case .below:
            remove(key, hidesBelow: false)
            removed.remove(key)
        }
    }

    private mutating func unindex(_ key: Key, of id: EntityID) {
        guard let place = byEntity.place(of: id) else { return }
        byEntity[at: place].remove(key)
        if byEntity[at: place].isEmpty { byEntity.removeValue(for: id) }
    }

    private mutating func index(_ key: Key, of id: EntityID) {
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

extension DirtyItems.LinkEnds {
    init(_ link: LinkRow) { self.init(relationship: link.relationship, first: link.first, second: link.second) }
}

extension LinkTable {
    /// Writes links ordered by relationship and ends, so that each page of the backing is written once.
    func write(to backing: any StateBacking) throws(StateError) {
        for key in removed {
            try backing.removeLink(key.relationship, first: key.first, second: key.second)
        }
        let byRelationship = Dictionary(grouping: links.values, by: \.relationship)
        for links in byRelationship.values {
            for link in links.sorted(by: { ($0.first, $0.second) < ($1.first, $1.second) }) {
                try backing.putLink(link)
            }
        }
    }
}
