import EDM
import Operations

/// The migration of entities and links to new metadata.
///
/// Everything that the new metadata support is kept. Nothing is converted or invented: unsupported values and links are
/// dropped, and the next download, which is a full one, adds the rest.
struct ModelMigration {
    let old: EntityDataModel
    let new: EntityDataModel
    let index: RelationshipIndex
    /// Whether values of the service may no longer fit.
    let touchesValues: Bool
    /// Whether links have to be migrated because a relationship has another name, direction or target.
    let touchesLinks: Bool
    /// Whether anything that a download may contain is different.
    let changesContent: Bool
    /// The new relationships by the names of the old ones. Forward is the old direction. Empty if no navigation
    /// property of the relationship is left, and several if its two ends became separate relationships.
    private let successors: [String: Set<Relationship>]

    init(from old: EntityDataModel, to new: EntityDataModel, index: RelationshipIndex) {
        self.old = old
        self.new = new
        self.index = index
        let difference = ModelDifference(from: old, to: new)
        let isCompatible = difference.changes.allSatisfy(\.rule.isCompatible)
        // An undeclared property of an open type may now be declared with another type.
        let hasOpenTypes = new.schemas.contains { ($0.entityTypes + $0.complexTypes).contains(where: \.isOpen) }
        touchesValues = !isCompatible || (hasOpenTypes && !difference.isEmpty)
        changesContent = !difference.isEmpty
        successors = Self.successors(old, new)
        touchesLinks =
            !isCompatible || successors.contains { $0.value != [Relationship(name: $0.key, isForward: true)] }
    }

    /// Returns the new relationships, matched by set and navigation property.
    private static func successors(_ old: EntityDataModel, _ new: EntityDataModel) -> [String: Set<Relationship>] {
        var found: [String: Set<Relationship>] = [:]
        for set in old.allSets {
            for type in old.entityTypes(derivedFrom: set.entityType) {
                let newType = new.findEntitySet(set.name).map { Self.type(of: type.name, in: $0, old, new) }
                for property in type.navigationProperties {
                    guard let was = property.navigation?.relationship else { continue }
                    found[was.name, default: []].formUnion([])
                    guard let now = newType?.findProperty(property.name)?.navigation?.relationship else { continue }
                    found[was.name]?.insert(Relationship(name: now.name, isForward: now.isForward == was.isForward))
                }
            }
        }
        return found
    }

    // MARK: Entities

    /// Returns the new type of an entity: its own, the nearest remaining base type, or the type of the set.
    private static func type(
        of name: String, in set: EntitySet, _ old: EntityDataModel, _ new: EntityDataModel
    ) -> EntityType {
        let bases = old.findEntityType(name).map { old.baseTypes(of: $0).map(\.name) } ?? []
        for name in [name] + bases {
            if let type = new.findEntityType(name), new.isType(name, derivedFrom: set.entityType.name) { return type }
        }
        return set.entityType
    }

    /// Returns the migrated entity, or nil if its set no longer exists.
    func migrated(_ row: EntityRow) -> EntityRow? {
        guard let set = new.findEntitySet(row.set) else { return nil }
        guard touchesValues else { return row }
        var row = row
        let type = Self.type(of: row.type, in: set, old, new)
        row.type = type.name
        row.values = row.values.fitted(to: type, in: new)
        return row
    }

    /// The sets whose key definition has changed.
    var rekeyedSets: Set<String> {
        Set(
            new.allSets.filter { set in
                guard let before = old.findEntitySet(set.name) else { return false }
                let (former, parts) = (before.entityType.keyParts, set.entityType.keyParts)
                return former.map(\.path) != parts.map(\.path)
                    || !zip(former, parts).allSatisfy { $0.hasSameNotations(as: $1) }
            }.map(\.name))
    }

    // MARK: Links

    /// Returns the new links for an old one, in a fixed order.
    func migrated(_ link: LinkRow) -> [LinkRow] {
        (successors[link.relationship] ?? []).sorted {
            ($0.name, $0.isForward ? 0 : 1) < ($1.name, $1.isForward ? 0 : 1)
        }
        .map { relationship in
            var link = link
            link.relationship = relationship.name
            if !relationship.isForward { swap(&link.first, &link.second) }
            return link
        }
    }

    /// Returns the migrated merge base, or nil if its set no longer exists.
    func migrated(_ mergeBase: MergeBase) -> MergeBase? {
        guard let row = migrated(mergeBase.row) else { return nil }
        let links = mergeBase.links.compactMap { link -> MergeBase.Link? in
            guard let now = successors[link.relationship], now.count == 1, let end = now.first else { return nil }
            return MergeBase.Link(
                relationship: end.name, isFirst: end.isForward == link.isFirst, partner: link.partner)
        }
        return MergeBase(row: row, links: links)
    }

    /// Returns the multiplicities of a link's relationship, or nil if the new metadata do not allow such a link between
    /// entities of these types.
    func end(of link: LinkRow, _ first: EntityRow, _ second: EntityRow) -> (first: Multiplicity, second: Multiplicity)?
    {
        new.multiplicities(of: link.relationship, from: first.type, to: second.type)
    }

    // MARK: Constraints

    /// Returns the referential constraints that the old metadata did not have. Existing values may define links under
    /// them.
    func newConstraints(besides old: RelationshipIndex) -> [RelationshipIndex.Constraint] {
        new.allSets.flatMap { set in
            let known = old.constraints(ofDependentsIn: set.name)
            return index.constraints(ofDependentsIn: set.name).filter { constraint in
                !known.contains { before in
                    before.principalSet == constraint.principalSet && before.pairs == constraint.pairs
                        && successors[before.relationship]?.contains(
                            Relationship(
                                name: constraint.relationship,
                                isForward: before.dependentIsFirst == constraint.dependentIsFirst)) == true
                }
            }
        }
    }
}
