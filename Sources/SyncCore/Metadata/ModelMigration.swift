import EDM
import Operations

/// What becomes of the state when the metadata change: of entities, and of the links between them.
///
/// Whatever the new metadata still have a place for stays. Nothing is converted or made up: what has no place any more is
/// dropped, and the next download, which reads everything, says the rest.
struct ModelMigration {
    let old: EntityDataModel
    let new: EntityDataModel
    let index: RelationshipIndex
    /// Whether values that the service sent may have no place any more.
    let touchesValues: Bool
    /// Whether the links have to be looked at: a relationship has another name or direction, or leads elsewhere.
    let touchesLinks: Bool
    /// Whether anything is different at all that a download may bring.
    let changesContent: Bool
    /// What the relationships of the old metadata are in the new ones. Forward is the direction that they had. None where
    /// no navigation property is left that walks it, several where its two ends became relationships of their own.
    private let successors: [String: Set<Relationship>]

    init(from old: EntityDataModel, to new: EntityDataModel, index: RelationshipIndex) {
        self.old = old
        self.new = new
        self.index = index
        let difference = ModelDifference(from: old, to: new)
        let isCompatible = difference.changes.allSatisfy(\.rule.isCompatible)
        // What was undeclared in an open type may be declared now, as something else.
        let hasOpenTypes = new.schemas.contains { ($0.entityTypes + $0.complexTypes).contains(where: \.isOpen) }
        touchesValues = !isCompatible || (hasOpenTypes && !difference.isEmpty)
        changesContent = !difference.isEmpty
        successors = Self.successors(old, new)
        touchesLinks =
            !isCompatible || successors.contains { $0.value != [Relationship(name: $0.key, isForward: true)] }
    }

    /// By the sets' navigation properties: these are what a person would say stays the same.
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

    /// The type that an entity of the set has from now on: its own, or else the nearest base type that is left, or else the
    /// set's.
    private static func type(
        of name: String, in set: EntitySet, _ old: EntityDataModel, _ new: EntityDataModel
    ) -> EntityType {
        let bases = old.findEntityType(name).map { old.baseTypes(of: $0).map(\.name) } ?? []
        for name in [name] + bases {
            if let type = new.findEntityType(name), new.isType(name, derivedFrom: set.entityType.name) { return type }
        }
        return set.entityType
    }

    /// The entity as the new metadata have it; nil where they do not have its set.
    func migrated(_ row: EntityRow) -> EntityRow? {
        guard let set = new.findEntitySet(row.set) else { return nil }
        guard touchesValues else { return row }
        var row = row
        let type = Self.type(of: row.type, in: set, old, new)
        row.type = type.name
        row.values = row.values.fitted(to: type, in: new)
        return row
    }

    /// The sets whose entities may have another key from now on.
    var rekeyedSets: Set<String> {
        Set(
            new.allSets.filter { set in
                guard let before = old.findEntitySet(set.name) else { return false }
                return before.entityType.keyParts.map(\.path) != set.entityType.keyParts.map(\.path)
            }.map(\.name))
    }

    // MARK: Links

    /// Where a link of the old metadata is kept from now on, in a fixed order.
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

    /// What is left of what is known of an entity with pending changes.
    func migrated(_ ancestor: Ancestor) -> Ancestor? {
        guard let row = migrated(ancestor.row) else { return nil }
        let links = ancestor.links.compactMap { link -> Ancestor.Link? in
            guard let now = successors[link.relationship], now.count == 1, let end = now.first else { return nil }
            return Ancestor.Link(
                relationship: end.name, isFirst: end.isForward == link.isFirst, partner: link.partner)
        }
        return Ancestor(row: row, links: links)
    }

    /// The end at which the link's first entity stands; nil where the new metadata allow no such link between entities of
    /// these types.
    func end(of link: LinkRow, _ first: EntityRow, _ second: EntityRow) -> (first: Multiplicity, second: Multiplicity)?
    {
        func find(_ isForward: Bool, from source: EntityRow, to target: EntityRow) -> Navigation? {
            let wanted = Relationship(name: link.relationship, isForward: isForward)
            return new.findEntityType(source.type)?.navigationProperties.lazy.compactMap(\.navigation).first {
                $0.relationship == wanted && new.isType(target.type, derivedFrom: $0.targetType)
            }
        }
        if let forward = find(true, from: first, to: second) {
            return (first: forward.multiplicity, second: forward.sourceMultiplicity)
        }
        return find(false, from: second, to: first).map { (first: $0.sourceMultiplicity, second: $0.multiplicity) }
    }

    // MARK: Constraints

    /// The referential constraints that the old metadata did not have: links follow from them that nobody has told.
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
