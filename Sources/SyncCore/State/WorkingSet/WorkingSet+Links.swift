package import Operations

extension WorkingSet {
    package func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        let own = linkTable.links(relationship, of: first, isFirst: true)
        guard try isBelow(first), let backing else { return own.sorted }
        return linkTable.merged(own, with: try backing.links(relationship, first: first))
    }

    package func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        let own = linkTable.links(relationship, of: second, isFirst: false)
        guard try isBelow(second), let backing else { return own.sorted }
        return linkTable.merged(own, with: try backing.links(relationship, second: second))
    }

    package func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        let own = linkTable.links(of: id)
        guard try isBelow(id), let backing else { return own.sorted }
        return linkTable.merged(own, with: try backing.links(of: id))
    }

    package func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        let key = LinkKey(relationship: relationship, first: first, second: second)
        switch linkTable.find(key) {
        case .link(let link): return link
        case .removed: return nil
        case .below:
            guard try isBelow(first), try isBelow(second), let backing else { return nil }
            return try backing.link(relationship, first: first, second: second)
        }
    }

    package func changedLinks() throws(StateError) -> [LinkRow] {
        var changed = linkTable.changed
        for link in try backing?.changedLinks() ?? [] where !linkTable.contains(LinkKey(link)) { changed.append(link) }
        return changed.sorted(by: LinkRow.inOrder)
    }

    package func putLink(_ link: LinkRow) throws(StateError) {
        guard tracking.isActive else {
            linkTable.put(link)
            return
        }
        tracking.dirtyItems?.links.insert(LinkKey(link))
        tracking.journal?.append(.link(LinkKey(link), linkTable.find(LinkKey(link))))
        let old = linkTable.put(link)
        tracking.digest.replace(old.map(SnapshotItem.link), by: .link(link))
    }

    package func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        let key = LinkKey(relationship: relationship, first: first, second: second)
        tracking.dirtyItems?.links.insert(key)
        tracking.journal?.append(.link(key, linkTable.find(key)))
        let hidesBelow = if try isBelow(first) { try isBelow(second) } else { false }
        let old = linkTable.remove(key, hidesBelow: hidesBelow)
        tracking.digest.replace(old.map(SnapshotItem.link), by: nil)
    }
}
