import EDM
import ODataWire
import Operations

/// The link changes that deltas report.
///
/// They are applied after everything else in their part, in the order of the delta. A link with an end that is not in
/// the store waits for it, whichever query contains it.
extension PageBuilder {
    /// A link change of a part.
    enum ReportedLink {
        /// A new link, by its number among the waiting ones.
        case added(Int)
        case removed(LinkChange)
    }

    /// Adds the dangling links of earlier downloads, each to be looked up once.
    mutating func readDanglingLinks() {
        for open in waiting.drainUnread() {
            guard let set = model.findEntitySet(open.set) else { continue }
            reported.append(.added(waiting.add(link(open, from: set, isKept: true))))
        }
    }

    /// Adds a link change. A removal counts even if its ends are unknown, because a waiting link to them must not be
    /// added later.
    mutating func addLinkChange(_ change: LinkChange) {
        guard let set = entitySet(change.set) else { return }
        guard change.isAdded, let target = change.target else {
            let link = link(change, from: set)
            if let source = link.source { waiting.removeLinks(source, change.relationship, link.target) }
            return reported.append(.removed(change))
        }
        let open = OpenLink(
            query: query, set: set.name, source: change.source, navigation: change.relationship, target: target)
        let link = link(open, from: set)
        // The link replaces another one, whose removal the service does not have to report (OData JSON 4.0, 14.4).
        if let source = link.source, property(change.relationship, from: set)?.isCollection == false {
            waiting.removeLinks(source, change.relationship, nil, but: open)
        }
        reported.append(.added(waiting.add(link)))
    }

    /// Returns the set of a removed entity. If the item has no context with a set, its entity-id determines the set.
    mutating func entitySet(of removed: EntityPayload) -> EntitySet? {
        let named = removed.set == nil ? removed.id.flatMap { builder.links.set(in: $0, expected: set) } : nil
        return named ?? entitySet(removed.set)
    }

    /// Returns the removed entity, or nil if the store does not have it. An entity-id in an unknown notation may name one
    /// that the store has.
    mutating func find(
        _ removed: RemovedEntity, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> EntityID? {
        let entity = builder.links.withURL(removed.entity, in: set)
        if removed.reason == .deleted { forgetLinks(of: entity, in: set) }
        let id = try builder.find(entity, in: set, below: parent)
        guard id == nil, try !builder.identifies(entity, in: set, below: parent) else { return id }
        unidentifiedRemovals.append(removed.entity.id ?? set.name)
        return nil
    }

    /// Removes the entities whose key belongs to another entity now. A delta does not have to report their deletion,
    /// because the service has an entity with this key. A full download removes them because no page contains them.
    mutating func removeFormerOwners(
        of payload: EntityPayload, besides id: EntityID, in set: EntitySet
    ) throws(StateError) {
        guard !builder.tellsAll, !set.isContained, !set.isSingleton else { return }
        let type = model.entityType(of: payload, in: set)
        // The service may name several entities with equal keys differently.
        guard builder.links.name(payload, type, set) == nil else { return }
        for other in try builder.lookup.rows(set, type, payload.values) where other != id {
            guard let row = try builder.lookup.serviceRow(other), row.editLink == nil,
                !pages[pages.count - 1].gone.contains(other)
            else { continue }
            try remove(other, isDeleted: true)
        }
    }

    /// Discards the waiting links of an entity that the service has deleted.
    private mutating func forgetLinks(of entity: EntityPayload, in set: EntitySet) {
        if !waiting.isEmpty, let end = builder.end(entity, in: set) { waiting.removeLinks(end) }
    }

    /// Adds the links whose ends are both known to the last part.
    mutating func addLinks() throws(StateError) {
        let shown = builder.assigned
        let arrived =
            waiting.isAwaiting ? waiting.arrived(among: shown.ends) { shown[$0.set, $0.key] != nil } : []
        for item in arrived.map(ReportedLink.added) + reported {
            switch item {
            case .added(let number): try resolveLink(for: number)
            case .removed(let change): try remove(change)
            }
        }
        reported = []
    }

    private func link(_ open: OpenLink, from set: EntitySet, isKept: Bool = false) -> DanglingLinks.Link {
        let change = LinkChange(
            isAdded: true, source: open.source, relationship: open.navigation, target: open.target)
        var link = link(change, from: set)
        link.open = open
        link.isKept = isKept
        return link
    }

    private func link(_ change: LinkChange, from set: EntitySet) -> DanglingLinks.Link {
        let open = OpenLink(
            query: query, set: set.name, source: change.source, navigation: change.relationship,
            target: change.target ?? "")
        let target = property(change.relationship, from: set).flatMap { model.target(of: $0, in: set) }
        return DanglingLinks.Link(
            open: open, source: builder.end(EntityPayload(id: change.source), in: set),
            target: target.flatMap { set in change.target.flatMap { builder.end(EntityPayload(id: $0), in: set) } })
    }

    /// Adds the link if both ends are known. Otherwise it waits for the first unknown end.
    private mutating func resolveLink(for number: Int) throws(StateError) {
        guard let link = waiting[number], let sourceSet = model.findEntitySet(link.open.set) else { return }
        guard let source = try builder.find(EntityPayload(id: link.open.source), in: sourceSet) else {
            return wait(number, link.source, link.open)
        }
        guard let (name, targetSet) = try target(of: link.open.navigation, source, sourceSet) else {
            return waiting.remove(number)
        }
        if let named = builder.links.set(in: link.open.target, expected: targetSet), named != targetSet {
            // A link leads into the set that the property is bound to and into no other.
            unidentified.insert("\(sourceSet.name)/\(link.open.navigation)")
            return waiting.remove(number)
        }
        let payload = EntityPayload(id: link.open.target)
        guard let target = try builder.find(payload, in: targetSet) else {
            return wait(number, builder.end(payload, in: targetSet), link.open)
        }
        waiting.remove(number)
        guard try mayLead(source, name, to: target, in: targetSet) else {
            unidentified.insert("\(sourceSet.name)/\(link.open.navigation)")
            return
        }
        try add(.init(source: source, navigation: name, target: target, isAdded: true))
    }

    /// Returns whether the link is permitted. A containment property leads only to entities that its own entity
    /// contains.
    private func mayLead(
        _ source: EntityID, _ navigation: String, to target: EntityID, in set: EntitySet
    ) throws(StateError) -> Bool {
        guard set.containment?.navigation.name == navigation else { return true }
        return try builder.isContained(target, in: set, by: source)
    }

    private mutating func wait(_ number: Int, _ end: DanglingLinks.End?, _ link: OpenLink) {
        if let end { return waiting.wait(number, for: end) }
        // An end without an identity cannot be waited for.
        unidentified.insert("\(link.set)/\(link.navigation)")
        waiting.remove(number)
    }

    private mutating func remove(_ change: LinkChange) throws(StateError) {
        // If an end is unknown, there is no link to remove.
        guard let sourceSet = entitySet(change.set),
            let source = try builder.find(EntityPayload(id: change.source), in: sourceSet),
            let (name, targetSet) = try target(of: change.relationship, source, sourceSet)
        else { return }
        guard let text = change.target else {
            return try add(.init(source: source, navigation: name, target: nil, isAdded: false))
        }
        guard let target = try builder.find(EntityPayload(id: text), in: targetSet) else { return }
        // The entity is no longer contained in any other.
        if targetSet.containment?.navigation.name == name {
            guard try mayLead(source, name, to: target, in: targetSet) else { return }
            return try remove(target, isDeleted: true)
        }
        try add(.init(source: source, navigation: name, target: target, isAdded: false))
    }

    /// Adds the entities that the query has below an entity which a delta removes. They may have left the query too.
    mutating func unlinkPartners(of id: EntityID) throws(StateError) {
        guard let branches = builder.deltaBranches, !builder.isNew(id), let type = try type(of: id) else { return }
        for branch in branches { unlinked.formUnion(try builder.partners(of: id, type, by: branch)) }
    }

    /// Adds the entities that lose a link by a link change. They may have left the query.
    mutating func unlinkEnds(of link: DownloadPage.ChangedLink) throws(StateError) {
        guard builder.deltaBranches != nil,
            let end = try type(of: link.source)?.findProperty(link.navigation)?.navigation
        else { return }
        unlinked.formUnion(try builder.ends(unlinkedBy: link, along: end))
    }

    /// Returns the property that a delta names as relationship, and its target set.
    private mutating func target(
        of relationship: String, _ source: EntityID, _ set: EntitySet
    ) throws(StateError) -> (name: String, set: EntitySet)? {
        let name = Self.name(of: relationship)
        guard let property = try declared(name, source, in: set),
            let target = model.target(of: property, in: set, from: try type(of: source))
        else {
            unidentified.insert("\(set.name)/\(relationship)")
            return nil
        }
        return (property.name, target)
    }

    /// Returns the property that a delta names as relationship, of any type that its source may have.
    private func property(_ relationship: String, from set: EntitySet) -> Property? {
        let name = Self.name(of: relationship)
        if let property = set.entityType.findProperty(name) { return property }
        return model.entityTypes(derivedFrom: set.entityType).lazy.compactMap { $0.findProperty(name) }.first
    }

    /// Returns the last segment of a path through complex properties and type casts.
    private static func name(of relationship: String) -> String {
        relationship.split(separator: "/").last.map(String.init) ?? relationship
    }
}

extension ImageBuilder {
    /// Returns the identity of an entity, known or not. Nil if the payload does not contain it.
    func end(_ payload: EntityPayload, in set: EntitySet) -> DanglingLinks.End? {
        if set.isSingleton { return DanglingLinks.End(set: set.name, key: "") }
        let type = model.entityType(of: payload, in: set)
        let payload = links.keyed(payload, type, set) ?? payload
        if set.isContained {
            return payload.id.map { DanglingLinks.End(set: set.name, key: links.relative($0)) }
        }
        if let name = links.name(payload, type, set) {
            return DanglingLinks.End(set: EntityNames<WorkingSet>.namesSet, key: name)
        }
        return KeyText.of(payload.values, type: type).map { DanglingLinks.End(set: set.name, key: $0) }
    }
}
