public import Operations

extension WorkingSet {
    public func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        try links(of: first, below: { backing throws(StateError) in try backing.links(relationship, first: first) }) {
            $0.first == first && $0.relationship == relationship
        }
    }

    public func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        try links(of: second, below: { backing throws(StateError) in try backing.links(relationship, second: second) })
        {
            $0.second == second && $0.relationship == relationship
        }
    }

    public func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try links(of: id, below: { backing throws(StateError) in try backing.links(of: id) }) { _ in true }
    }

    /// Returns the links of an entity: those of the backing, overridden by the changed ones.
    private func links(
        of id: EntityID, below: (any StateBacking) throws(StateError) -> [LinkRow], where isWanted: (LinkKey) -> Bool
    ) throws(StateError) -> [LinkRow] {
        let own = linkTable.isEmpty ? [] : linkTable.keys(of: id).filter(isWanted)
        var found = own.compactMap { linkTable[$0] }
        if let backing, try isBelow(id) {
            let stored = try below(backing)
            if own.isEmpty { return stored }
            for link in stored where !linkTable.contains(LinkKey(link)) { found.append(link) }
        }
        if found.count > 1 { found.sort(by: LinkRow.inOrder) }
        return found
    }

    public func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        let key = LinkKey(relationship: relationship, first: first, second: second)
        if let link = linkTable[key] { return link }
        guard let backing, !linkTable.contains(key), try isBelow(first), try isBelow(second) else { return nil }
        return try backing.link(relationship, first: first, second: second)
    }

    public func changedLinks() throws(StateError) -> [LinkRow] {
        var changed = linkTable.changed
        for link in try backing?.changedLinks() ?? [] where !linkTable.contains(LinkKey(link)) { changed.append(link) }
        return changed.sorted(by: LinkRow.inOrder)
    }

    public func putLink(_ link: LinkRow) throws(StateError) {
        tracking.dirtyItems?.links.insert(LinkKey(link))
        if journal != nil { journal?.append(.link(LinkKey(link), linkTable.find(LinkKey(link)))) }
        let old = linkTable.put(link)
        tracking.digest.replace(old.map(SnapshotItem.link), by: .link(link))
    }

    public func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        let key = LinkKey(relationship: relationship, first: first, second: second)
        tracking.dirtyItems?.links.insert(key)
        if journal != nil { journal?.append(.link(key, linkTable.find(key))) }
        var hidesBelow = try isBelow(first)
        if hidesBelow { hidesBelow = try isBelow(second) }
        let old = linkTable.remove(key, hidesBelow: hidesBelow)
        tracking.digest.replace(old.map(SnapshotItem.link), by: nil)
    }
}
