import EDM
package import Operations

/// The merge base: the service's version of an entity when its oldest pending change was made.
///
/// It is stored if the base state has changed since because of another client. Values that it does not contain are
/// unknown and cannot conflict: properties that were never read, and those that a local operation set and the service
/// has not repeated.
package struct MergeBase: Sendable, Hashable {
    package var row: EntityRow
    /// The known partners at to-one ends, by relationship.
    package var links: [Link]

    package struct Link: Sendable, Hashable {
        package var relationship: String
        /// Whether the entity is the first end of the relationship's links.
        package var isFirst: Bool
        /// The partner, or nil if there was none.
        package var partner: EntityID?

        package init(relationship: String, isFirst: Bool, partner: EntityID?) {
            self.relationship = relationship
            self.isFirst = isFirst
            self.partner = partner
        }

        func isSameEnd(_ other: Link) -> Bool { relationship == other.relationship && isFirst == other.isFirst }
    }

    package init(row: EntityRow, links: [Link]) {
        self.row = row
        // Not part of the comparison, and not stored in a snapshot.
        self.row.downloaded = 0
        self.links = links
    }

    package var id: EntityID { row.id }

    func partner(_ end: Link) -> Link? { links.first { $0.isSameEnd(end) } }

    /// Returns the merge base reduced to the items that the changes concern.
    func restricted(to changes: ChangeReferenceCounts) -> MergeBase {
        var restricted = self
        for name in row.values.names where !changes.names(name) { restricted.row.values[name] = nil }
        restricted.links.removeAll { !changes.decides($0) }
        return restricted
    }

    /// Returns whether another client has changed the entity since the service returned this ETag.
    func isReplaced(by other: MergeBase) -> Bool {
        guard row.origin == .service, let etag = row.etag, let now = other.row.etag else { return false }
        return !etag.isExactly(now)
    }

    /// Returns whether the value is the one of `other`, and was read from the service.
    func showsService(_ name: String, as other: MergeBase) -> Bool {
        guard row.origin == .service, let value = row.values[name] else { return false }
        return value == other.row.values[name]
    }

    /// Removes the values that the entity had before it was read, and of which the service shows a normalized form.
    mutating func omitNormalized(_ before: MergeBase, _ now: MergeBase, of type: EntityType?) {
        for item in before.row.values where row.values[item.name] == item.value {
            guard let found = now.row.values[item.name], found != item.value,
                item.value.isNormalized(as: found, type?.findProperty(item.name)?.facets)
            else { continue }
            row.values[item.name] = nil
        }
    }

    /// Returns the merge base without the items that only unsent operations concern, so that no decision about these is
    /// required.
    ///
    /// - Parameters:
    ///   - kept: Changes by drafts and local-only operations.
    ///   - sent: Changes by operations to be sent.
    func leaving(_ kept: EntityChanges, for sent: EntityChanges) -> MergeBase {
        if kept.operations.isEmpty || sent.deletes { return self }
        if kept.deletes { return restricted(to: ChangeReferenceCounts(sent)) }
        var left = self
        for name in kept.properties where !sent.properties.contains(name) { left.row.values[name] = nil }
        left.links.removeAll { end in
            kept.ends.contains { $0.end.isSameEnd(end) } && !sent.ends.contains { $0.end.isSameEnd(end) }
        }
        return left
    }

    /// Returns the merge base without the items that the service may have changed for operations with an unknown
    /// outcome: those that they set, links that follow from dependent properties, and vice versa.
    ///
    /// - Parameter constraints: The constraints of which the entity is the dependent.
    func omitting(_ unsettled: EntityChanges, _ constraints: [RelationshipIndex.Constraint]) -> MergeBase {
        guard unsettled.isVisible else { return self }
        var names = unsettled.properties
        var ends = unsettled.ends.map(\.end)
        for constraint in constraints {
            let end = Link(relationship: constraint.relationship, isFirst: constraint.dependentIsFirst, partner: nil)
            let dependents = constraint.pairs.map(\.dependent)
            if unsettled.ends.contains(where: { $0.end.isSameEnd(end) }) { names.formUnion(dependents) }
            if !unsettled.properties.isDisjoint(with: dependents) { ends.append(end) }
        }
        var left = self
        for name in names { left.row.values[name] = nil }
        left.links.removeAll { end in ends.contains { $0.isSameEnd(end) } }
        return left
    }

    /// Returns the merge base for drafts after a conflict about the sent changes was decided. For the decided items it
    /// contains the service's current values, so that the same conflict is not reported again before another change.
    func leftForDrafts(_ drafts: EntityChanges, decided sent: EntityChanges, now: MergeBase) -> MergeBase {
        // The decision concerned the whole entity: no draft outlives a deletion.
        if sent.deletes { return now }
        var left = drafts.deletes ? self : restricted(to: ChangeReferenceCounts(drafts))
        for name in sent.properties { left.row.values[name] = now.row.values[name] }
        left.links.removeAll { end in sent.ends.contains { $0.end.isSameEnd(end) } }
        left.links += now.links.filter { end in sent.ends.contains { $0.end.isSameEnd(end) } }
        return left
    }

    /// Returns whether `other` differs in any known item. The ETag does not count, because it also changes with links
    /// to the entity (OData 4.01 Part 1, 8.3.1).
    func differs(from other: MergeBase) -> Bool {
        if row.origin.isOnService != other.row.origin.isOnService { return true }
        if row.values.contains(where: { item in other.row.values[item.name].map { $0 != item.value } ?? false }) {
            return true
        }
        return links.contains { end in other.partner(end).map { $0 != end } ?? false }
    }
}
