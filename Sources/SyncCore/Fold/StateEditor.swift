import EDM
import ODataWire
import Operations

/// How an operation changes entities and links: the same rules for the local state, with base states saved, and for the
/// base, where they come true.
struct StateEditor {
    /// What is being changed.
    enum Layer {
        /// The local state: what was there before is saved as base, so that it can be restored.
        case local
        /// What the service holds.
        case base
    }

    let storage: StateLayer
    let model: EntityDataModel
    let index: RelationshipIndex
    let layer: Layer
    /// For the rules to look at.
    var touched = Touched()
    /// False where nobody will look: a download of millions need not be remembered.
    var notesTouched = true
    /// What entities with pending changes were before the base changed, where ``watchesBase`` asks for it; nil for one that
    /// the service did not have.
    private(set) var before: [EntityID: Ancestor?] = [:]
    var watchesBase = false
    /// The record of the download whose pages are taken over; nil where it is something else.
    var download: SequenceNumber?
    /// The last entity that was found to have nothing pending: it is asked for again at once as a rule.
    private var unwatched: EntityID?
    /// What the metadata say of the images that came last: those of a download are all alike.
    private var kind: ImageKind?

    init(storage: StateLayer, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
        layer = storage.kind == .local ? .local : .base
    }

    // MARK: Rows

    mutating func put(_ row: EntityRow) throws(StateError) {
        try storage.saveBase(row.id)
        try watch(row.id)
        if notesTouched { touched.entities.insert(row.id) }
        try storage.putRow(row)
    }

    private mutating func removeRow(_ id: EntityID) throws(StateError) {
        try storage.saveBase(id)
        try watch(id)
        if notesTouched { touched.entities.insert(id) }
        try storage.removeRow(id)
        // What only pending operations take away comes back with an undo.
        if layer == .base { try storage.state.putStreams([], of: id) }
    }

    private mutating func watch(_ id: EntityID) throws(StateError) {
        guard layer == .base, watchesBase, unwatched != id, before[id] == nil else { return }
        guard try storage.state.hasPendingChange(of: id) else {
            unwatched = id
            return
        }
        before.updateValue(try EntityResolver(storage: storage.state, model: model).visible(id, index), forKey: id)
    }

    /// Nil where the metadata do not have both.
    mutating func kind(of image: EntityImage) -> ImageKind? {
        if let kind, kind.set == image.set, kind.type.name == image.type { return kind }
        guard model.findEntitySet(image.set) != nil, let type = model.findEntityType(image.type) else { return nil }
        let kind = ImageKind(
            set: image.set, type: type, namesPartner: index.propertiesNamingSinglePlaces(in: image.set),
            isPrincipal: !index.constraints(ofPrincipalsIn: image.set).isEmpty)
        self.kind = kind
        return kind
    }

    func type(_ name: String) throws(StateError) -> EntityType {
        guard let type = model.findEntityType(name) else {
            throw StateError(.noModel, "The metadata has no entity type \(name), which the log uses.")
        }
        return type
    }

    /// The navigation property of an entity's type; nil where the metadata no longer has it.
    func navigation(_ name: String, of row: EntityRow) throws(StateError) -> Property? {
        guard let property = try type(row.type).findProperty(name), property.isNavigation else { return nil }
        return property
    }

    // MARK: Entities

    /// Whether the metadata have both. If not, those that had were in a record that was lost, and what needs them changes
    /// nothing.
    func knows(_ set: String, _ type: String) -> Bool {
        model.findEntitySet(set) != nil && model.findEntityType(type) != nil
    }

    /// - Parameter owner: the navigation property through which the entity is created, if there is one.
    mutating func create(_ creation: Creation, through owner: Navigation? = nil) throws(StateError) {
        guard knows(creation.set, creation.type) else { return }
        try storage.register(creation.entity, set: creation.set)
        var row = EntityRow(
            id: creation.entity, set: creation.set, type: creation.type, values: creation.values,
            origin: layer == .base ? .service : .local)
        if layer == .base, let known = try storage.row(creation.entity) {
            // Read before the create was known to be done: what the service said is newer than what it was sent.
            row.values.merge(known.values)
            row.etag = known.etag
            row.editLink = known.editLink
            row.downloaded = known.downloaded
        }
        try put(row)
        let names = creation.bindings.map(\.navigation) + creation.inline.map(\.navigation)
        var decided = try decidedEnds(names, of: row)
        if let owner, !owner.inverseConstraints.isEmpty { decided.insert(owner.relationship.reversed) }
        try synchronizeDependent(row, changed: row.values.names, decided: decided)
        try synchronizePrincipal(row.id)
        for inline in creation.inline {
            let end = try navigation(inline.navigation, of: row)?.navigation
            for child in inline.entities {
                try create(child, through: end)
                try link(from: row.id, inline.navigation, to: child.entity)
            }
        }
        try bind(row.id, creation.bindings)
    }

    /// Does nothing to an entity that is no longer there.
    mutating func update(_ id: EntityID, changes: PropertyValues, bindings: [Binding]) throws(StateError) {
        guard var row = try storage.row(id) else { return }
        if !changes.isEmpty {
            // All are taken, also what seems to be there already: 1.5 and 1.50 are equal but not the same, and a dependent
            // property that is null because the principal has no key yet may be meant to be null.
            row.values.merge(changes)
            try put(row)
            let decided = try decidedEnds(bindings.map(\.navigation), of: row)
            try synchronizeDependent(row, changed: changes.names, decided: decided)
            try synchronizePrincipal(id)
        }
        try bind(id, bindings)
    }

    /// The relationships of which the entity is the dependent end, and of which a binding or a deep insert says whom it is
    /// linked to. Its dependent properties are not asked: they would push out a partner of somebody else on the way
    /// (OData 4.01 Part 1, 11.4.3: the dependent property is ignored).
    private func decidedEnds(_ navigations: [String], of row: EntityRow) throws(StateError) -> Set<Relationship> {
        var decided: Set<Relationship> = []
        for name in navigations {
            guard let end = try navigation(name, of: row)?.navigation, !end.constraints.isEmpty else { continue }
            decided.insert(end.relationship)
        }
        return decided
    }

    private mutating func bind(_ id: EntityID, _ bindings: [Binding]) throws(StateError) {
        for binding in bindings {
            for target in binding.targets { try link(from: id, binding.navigation, to: target) }
        }
    }

    /// Takes an entity and its links out, and with it the partners that a service deletes along with it.
    mutating func delete(_ id: EntityID) throws(StateError) {
        // A list and no recursion: how long a chain of partners is, others decide.
        var left = [id]
        while let id = left.popLast() {
            guard let row = try storage.row(id, reading: .readsExistence) else { continue }
            let partners = try storage.links(of: id).filter {
                $0.inLocal && index.deletesPartner($0.relationship, from: row.set, isFirst: $0.first == id)
            }.map { partner($0, of: id) }
            try remove(id, clearing: true)
            left += partners.reversed()
        }
    }

    /// Takes an entity and its links out, nothing else.
    ///
    /// - Parameter clearing: whether who names it names nobody any more.
    mutating func remove(_ id: EntityID, clearing: Bool) throws(StateError) {
        guard try storage.row(id, reading: .readsExistence) != nil else { return }
        for link in try storage.links(of: id) where link.inLocal { try unlink(link, clearing: clearing) }
        try removeRow(id)
    }

    // MARK: Links

    /// Adds a link and removes those that the cardinality of its ends leaves no room for.
    mutating func link(from source: EntityID, _ navigation: String, to target: EntityID) throws(StateError) {
        guard let row = try storage.row(source, reading: .readsExistence),
            try storage.row(target, reading: .readsExistence) != nil,
            let property = try self.navigation(navigation, of: row), let end = property.navigation
        else { return }
        let name = end.relationship.name
        let (first, second) = end.relationship.isForward ? (source, target) : (target, source)
        let firstMultiplicity = end.relationship.isForward ? end.multiplicity : end.sourceMultiplicity
        let secondMultiplicity = end.relationship.isForward ? end.sourceMultiplicity : end.multiplicity
        if firstMultiplicity != .many {
            for other in try storage.links(name, first: first) where other.inLocal && other.second != second {
                try unlink(other, clearing: true)
            }
        }
        if secondMultiplicity != .many {
            for other in try storage.links(name, second: second) where other.inLocal && other.first != first {
                try unlink(other, clearing: true)
            }
        }
        try setLink(name, first, second, true)
        try assignContainedKey(end, from: source, to: target)
        try writeConstraint(name, first: first, second: second)
    }

    mutating func unlink(from source: EntityID, _ navigation: String, to target: EntityID) throws(StateError) {
        guard let row = try storage.row(source, reading: .readsExistence),
            let property = try self.navigation(navigation, of: row), let end = property.navigation
        else {
            return
        }
        if !property.isCollection {
            // The request for it names nobody either: where others have put somebody else there, that one goes.
            for link in try partners(end.relationship.name, of: source, isFirst: end.relationship.isForward) {
                try unlink(link, clearing: true)
            }
            return
        }
        let (first, second) = end.relationship.isForward ? (source, target) : (target, source)
        guard let link = try storage.link(end.relationship.name, first: first, second: second), link.inLocal else {
            return
        }
        try unlink(link, clearing: true)
    }

    /// `clearing` also sets the dependent properties of the link's constraint to null.
    mutating func unlink(_ link: LinkRow, clearing: Bool) throws(StateError) {
        try setLink(link.relationship, link.first, link.second, false)
        guard clearing, let (constraint, dependent, _) = try constraint(of: link) else { return }
        guard var row = try storage.row(dependent) else { return }
        let keys = try type(row.type).keyProperties.map(\.name)
        // A property of the key cannot be cleared; the service will have its say.
        guard constraint.pairs.allSatisfy({ !keys.contains($0.dependent) }) else { return }
        for pair in constraint.pairs { row.values[pair.dependent] = .null }
        try put(row)
    }

    private mutating func setLink(
        _ name: String, _ first: EntityID, _ second: EntityID, _ present: Bool
    ) throws(StateError) {
        try watch(first)
        try watch(second)
        if notesTouched {
            touched.entities.insert(first)
            touched.entities.insert(second)
            let ends = Touched.LinkEnds(relationship: name, first: first, second: second)
            if present { touched.unlinked.remove(ends) } else { touched.unlinked.insert(ends) }
        }
        try storage.setLink(name, first, second, present)
    }

    // MARK: Referential constraints

    private func constraint(
        of link: LinkRow
    ) throws(StateError) -> (RelationshipIndex.Constraint, dependent: EntityID, principal: EntityID)? {
        for (dependent, principal) in [(link.first, link.second), (link.second, link.first)] {
            guard let set = try storage.set(of: dependent) else { continue }
            if let constraint = index.constraint(link.relationship, dependentSet: set),
                constraint.dependentIsFirst == (dependent == link.first)
            {
                return (constraint, dependent, principal)
            }
        }
        return nil
    }

    /// Gives the dependent entity of a new link the principal's values. They are null as long as the principal has no key.
    private mutating func writeConstraint(
        _ relationship: String, first: EntityID, second: EntityID
    ) throws(StateError) {
        let link = LinkRow(relationship: relationship, first: first, second: second, inBase: false, inLocal: true)
        guard let (constraint, dependent, principal) = try constraint(of: link) else { return }
        try copyPrincipalValues(constraint, from: principal, to: dependent)
    }

    /// For the properties that the constraint compares.
    private func principal(
        _ id: EntityID, _ constraint: RelationshipIndex.Constraint
    ) throws(StateError) -> EntityRow? {
        let row = try storage.row(id, reading: .readsKeys)
        // Of an entity of another set these need not be compared by any.
        return row?.set == constraint.principalSet ? row : try storage.row(id)
    }

    private mutating func copyPrincipalValues(
        _ constraint: RelationshipIndex.Constraint, from principal: EntityID, to dependent: EntityID
    ) throws(StateError) {
        guard let source = try self.principal(principal, constraint),
            var row = try storage.row(dependent, reading: .readsKeys)
        else { return }
        let before = row.values
        for pair in constraint.pairs {
            if let value = source.values[pair.principal] {
                row.values[pair.dependent] = value
            } else if row.values[pair.dependent] != nil {
                row.values[pair.dependent] = .null
            }
        }
        if row.values != before { try put(row) }
    }

    /// Follows the dependent properties of an entity: they say which principal it is linked to.
    ///
    /// - Parameters:
    ///   - decided: relationships, as seen from this entity, that something else decides.
    ///   - clearing: whether who is pushed out names nobody any more.
    mutating func synchronizeDependent(
        _ row: EntityRow, changed: [String], decided: Set<Relationship> = [], clearing: Bool = true
    ) throws(StateError) {
        for constraint in index.constraints(ofDependentsIn: row.set)
        where constraint.pairs.contains(where: { changed.contains($0.dependent) }) {
            let end = Relationship(name: constraint.relationship, isForward: constraint.dependentIsFirst)
            if decided.contains(end) { continue }
            let current = try partners(constraint.relationship, of: row.id, isFirst: constraint.dependentIsFirst)
            let principal = try self.principal(constraint, of: row, among: current)
            for link in current where partner(link, of: row.id) != principal {
                if principal == nil, try isKeptUnnamed(link, constraint, row) { continue }
                try unlink(link, clearing: false)
            }
            if let principal { try follow(constraint, dependent: row.id, principal: principal, clearing: clearing) }
        }
    }

    /// A new entity whose key the service has not told cannot be found by it: what the service says of the entity that was
    /// created together with it is no reason to take the two apart.
    private func isKeptUnnamed(
        _ link: LinkRow, _ constraint: RelationshipIndex.Constraint, _ row: EntityRow
    ) throws(StateError) -> Bool {
        guard layer == .base, let principal = try storage.row(partner(link, of: row.id)) else { return false }
        return constraint.pairs.allSatisfy { (row.values[$0.dependent] ?? .null) != .null }
            && constraint.pairs.contains { (principal.values[$0.principal] ?? .null) == .null }
    }

    /// Links the entities whose dependent properties name this one, and tells those that are linked already its values.
    mutating func synchronizePrincipal(_ id: EntityID, clearing: Bool = true) throws(StateError) {
        guard let set = try storage.set(of: id), !index.constraints(ofPrincipalsIn: set).isEmpty else { return }
        guard let row = try storage.row(id, reading: .readsKeys) else { return }
        for constraint in index.constraints(ofPrincipalsIn: row.set) {
            for link in try partners(constraint.relationship, of: id, isFirst: !constraint.dependentIsFirst) {
                try copyPrincipalValues(constraint, from: id, to: partner(link, of: id))
            }
            var values: [(property: String, value: Value)] = []
            for pair in constraint.pairs {
                guard let value = row.values[pair.principal], value != .null else { break }
                values.append((pair.dependent, value))
            }
            guard values.count == constraint.pairs.count else { continue }
            for dependent in try storage.findRows(set: constraint.dependentSet, where: values) {
                // A single place is left to whoever has it.
                if constraint.isDependentSingle,
                    try !partners(constraint.relationship, of: id, isFirst: !constraint.dependentIsFirst).isEmpty
                {
                    break
                }
                if try isTaken(dependent, by: constraint, besides: id) { continue }
                try follow(constraint, dependent: dependent, principal: id, clearing: clearing)
            }
        }
    }

    /// Whether the dependent properties of `row` have the principal's values.
    private func isNamed(
        _ principal: EntityID, by constraint: RelationshipIndex.Constraint, _ row: EntityRow
    ) throws(StateError) -> Bool {
        guard let source = try self.principal(principal, constraint) else { return false }
        return constraint.pairs.allSatisfy { pair in
            guard let value = row.values[pair.dependent], value != .null else { return false }
            return source.values[pair.principal] == value
        }
    }

    /// The key of a new entity is what the app thinks it will be, and for a while another one may have it: that does not
    /// take away whoever is linked to that one.
    private func isTaken(
        _ dependent: EntityID, by constraint: RelationshipIndex.Constraint, besides id: EntityID
    ) throws(StateError) -> Bool {
        guard let row = try storage.row(dependent, reading: .readsKeys) else { return false }
        for link in try partners(constraint.relationship, of: dependent, isFirst: constraint.dependentIsFirst) {
            let principal = partner(link, of: dependent)
            if principal != id, try isNamed(principal, by: constraint, row) { return true }
        }
        return false
    }

    private mutating func follow(
        _ constraint: RelationshipIndex.Constraint, dependent: EntityID, principal: EntityID, clearing: Bool
    ) throws(StateError) {
        let (first, second) = constraint.dependentIsFirst ? (dependent, principal) : (principal, dependent)
        if try storage.link(constraint.relationship, first: first, second: second)?.inLocal == true { return }
        for link in try partners(constraint.relationship, of: dependent, isFirst: constraint.dependentIsFirst) {
            try unlink(link, clearing: false)
        }
        if constraint.isDependentSingle {
            for link in try partners(constraint.relationship, of: principal, isFirst: !constraint.dependentIsFirst) {
                // There is room for one: whoever else names the principal cannot do so any more.
                try unlink(link, clearing: clearing)
                if layer == .base, clearing { try markUnread(partner(link, of: principal)) }
            }
        }
        try setLink(constraint.relationship, first, second, true)
    }

    /// What became of the entity is what we think that the service did, so it is read before it is sent.
    private mutating func markUnread(_ id: EntityID) throws(StateError) {
        guard var row = try storage.row(id), row.origin == .service else { return }
        row.origin = .serviceWithStaleETag
        try put(row)
    }

    private func principal(
        _ constraint: RelationshipIndex.Constraint, of row: EntityRow, among current: [LinkRow]
    ) throws(StateError) -> EntityID? {
        for link in current {
            let known = partner(link, of: row.id)
            if try isNamed(known, by: constraint, row) { return known }
        }
        var values: [(property: String, value: Value)] = []
        for pair in constraint.pairs {
            guard let value = row.values[pair.dependent], value != .null else { return nil }
            values.append((pair.principal, value))
        }
        return try storage.findRows(set: constraint.principalSet, where: values).first
    }

    private func partners(
        _ relationship: String, of id: EntityID, isFirst: Bool
    ) throws(StateError) -> [LinkRow] {
        let links = isFirst ? try storage.links(relationship, first: id) : try storage.links(relationship, second: id)
        return links.filter(\.inLocal)
    }

    private func partner(_ link: LinkRow, of id: EntityID) -> EntityID { link.first == id ? link.second : link.first }
}

/// What the metadata say of an image's set and type.
struct ImageKind {
    let set: String
    let type: EntityType
    /// The properties that name a partner who has room for one of them only.
    let namesPartner: Set<String>
    /// Whether dependent properties of others may name the set's entities.
    let isPrincipal: Bool
}
