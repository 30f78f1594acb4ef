import EDM
public import Operations

/// What an entity was at the service when the oldest pending change of it was made: the base of a comparison of three.
///
/// Kept where the base is not that any more, because somebody else changed the entity. What the ancestor does not have is
/// not known, and nobody can be in conflict about it: a property that was never read, and one that an operation of ours set
/// and the service has not repeated.
public struct Ancestor: Sendable, Hashable {
    public var row: EntityRow
    /// Where the entity has room for one partner, as far as it is known; by relationship.
    public var links: [Link]

    public struct Link: Sendable, Hashable {
        public var relationship: String
        /// Whether the entity is the first end of the relationship's links.
        public var isFirst: Bool
        /// Nil where it had none.
        public var partner: EntityID?

        public init(relationship: String, isFirst: Bool, partner: EntityID?) {
            self.relationship = relationship
            self.isFirst = isFirst
            self.partner = partner
        }

        func isSameEnd(_ other: Link) -> Bool { relationship == other.relationship && isFirst == other.isFirst }
    }

    public init(row: EntityRow, links: [Link]) {
        self.row = row
        // Nothing of what is compared, and it has no place in a snapshot.
        self.row.downloaded = 0
        self.links = links
    }

    public var id: EntityID { row.id }

    func partner(_ end: Link) -> Link? { links.first { $0.isSameEnd(end) } }

    /// The same, knowing only what the changes are about.
    func restricted(to changes: ChangeTally) -> Ancestor {
        var restricted = self
        for name in row.values.names where !changes.names(name) { restricted.row.values[name] = nil }
        restricted.links.removeAll { !changes.decides($0) }
        return restricted
    }

    /// Whether somebody has changed the entity since the service told its ETag.
    func isReplaced(by other: Ancestor) -> Bool {
        guard row.origin == .service, let etag = row.etag, let now = other.row.etag else { return false }
        return !etag.isExactly(now)
    }

    /// Not knowing what only operations are about that are not to be sent yet: nobody has to decide about these.
    ///
    /// - Parameters:
    ///   - kept: drafts, and what is for this store only.
    ///   - sent: what is to be sent.
    func leaving(_ kept: EntityChanges, for sent: EntityChanges) -> Ancestor {
        if kept.operations.isEmpty || sent.deletes { return self }
        if kept.deletes { return restricted(to: ChangeTally(sent)) }
        var left = self
        for name in kept.properties where !sent.properties.contains(name) { left.row.values[name] = nil }
        left.links.removeAll { end in
            kept.ends.contains { $0.end.isSameEnd(end) } && !sent.ends.contains { $0.end.isSameEnd(end) }
        }
        return left
    }

    /// What is left to be compared when drafts are released, once what is to be sent has been decided about: of that it knows
    /// what the service has now, so that nobody is asked about it again before others change it again.
    func leftForDrafts(_ drafts: EntityChanges, decided sent: EntityChanges, now: Ancestor) -> Ancestor {
        // That was about the whole of it: no draft outlives a deletion.
        if sent.deletes { return now }
        var left = drafts.deletes ? self : restricted(to: ChangeTally(drafts))
        for name in sent.properties { left.row.values[name] = now.row.values[name] }
        left.links.removeAll { end in sent.ends.contains { $0.end.isSameEnd(end) } }
        left.links += now.links.filter { end in sent.ends.contains { $0.end.isSameEnd(end) } }
        return left
    }

    /// Whether `other` says something else of anything that the ancestor knows. An ETag says nothing that anyone could see:
    /// it also changes with links of others to the entity (OData 4.01 Part 1, 8.3.1).
    func differs(from other: Ancestor) -> Bool {
        if row.origin.isOnService != other.row.origin.isOnService { return true }
        if row.values.contains(where: { item in other.row.values[item.name].map { $0 != item.value } ?? false }) {
            return true
        }
        return links.contains { end in other.partner(end).map { $0 != end } ?? false }
    }
}
