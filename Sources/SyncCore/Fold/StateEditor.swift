import EDM
import Operations

/// Applies operations to entities and links, under the same rules in both layers: in the current state, where base
/// states are saved, and in the base state, where operations are confirmed.
struct StateEditor {
    /// The layer that is changed.
    enum Layer {
        /// The current state: the previous state of each item is saved as its base state, so that it can be restored.
        case local
        /// The base state.
        case base
    }

    let storage: StateLayer
    let model: EntityDataModel
    let layer: Layer
    /// The changes, for the cardinality rules.
    var touched = DirtySet()
    /// Whether changes are tracked. False if they are not validated: in a download of millions of entities, and for
    /// operations if no end of the model is mandatory.
    var notesTouched: Bool
    /// The versions of entities with pending changes before the base changed, tracked if ``watchesBase`` is set; nil
    /// for an entity that the service did not have.
    private(set) var before: [EntityID: MergeBase?] = [:]
    var watchesBase = false
    /// The record of the download whose pages are applied, or nil outside a download.
    var download: SequenceNumber?
    /// The last entity without pending changes, cached because it is usually looked up again immediately.
    private var unwatched: EntityID?

    var index: RelationshipIndex { storage.index }
    var lookup: ConstraintLookup { ConstraintLookup(storage: storage) }

    init(storage: StateLayer, model: EntityDataModel) {
        self.storage = storage
        self.model = model
        layer = storage.kind == .local ? .local : .base
        notesTouched = layer == .base || model.hasMandatoryEnds
    }

    // MARK: Rows

    mutating func put(_ row: EntityRow) throws(StateError) {
        try watch(row.id)
        if notesTouched { touched.entities.insert(row.id) }
        try storage.putRow(row)
    }

    private mutating func removeRow(_ id: EntityID) throws(StateError) {
        try watch(id)
        if notesTouched { touched.entities.insert(id) }
        try storage.removeRow(id)
        // Streams of an entity that only pending operations delete are needed by an undo.
        if layer == .base { try storage.state.bookkeeping.putStreams([], of: id) }
    }

    /// Removes and returns the versions before the changes so far.
    mutating func takeVersions() -> MergeBaseTracker.PriorVersions {
        defer { before = [:] }
        return before
    }

    private mutating func watch(_ id: EntityID) throws(StateError) {
        guard layer == .base, watchesBase, unwatched != id, before[id] == nil else { return }
        guard try storage.state.hasPendingChange(of: id) else {
            unwatched = id
            return
        }
        before.updateValue(try EntityResolver(storage: storage.state, model: model).visible(id, index), forKey: id)
    }

    func type(_ name: String) throws(StateError) -> EntityType {
        guard let type = storage.entityType(name) else {
            throw StateError(.noModel, "The metadata has no entity type \(name), which the log uses.")
        }
        return type
    }

    /// Returns the navigation property of an entity's type, or nil if the metadata no longer has it.
    func navigation(_ name: String, of type: String) throws(StateError) -> Property? {
        guard let property = try self.type(type).findProperty(name), property.isNavigation else { return nil }
        return property
    }

    // MARK: Entities

    /// Creates an entity. Has no effect if the metadata with its set or type were in a record that was lost.
    ///
    /// - Parameter owner: The navigation property through which the entity is created, if any.
    mutating func create(_ creation: Creation, through owner: Navigation? = nil) throws(StateError) {
        guard let metadata = storage.metadata(set: creation.set, type: creation.type) else { return }
        let type = metadata.type
        try storage.register(creation.entity, set: creation.set)
        var row = EntityRow(
            id: creation.entity, metadata.kind, values: creation.values, origin: layer == .base ? .service : .local)
        if layer == .base, let known = try storage.row(creation.entity) {
            // The entity was read before the create was confirmed: the values of the service are newer than the sent
            // ones.
            row.values.merge(known.values)
            row.etag = known.etag
            row.editLink = known.editLink
            row.downloaded = known.downloaded
        }
        let values = row.values
        var hasValues = try addPrincipalValues(to: &row.values, creation, metadata)
        try put(row)
        if metadata.dependents.contains(where: { $0.isDetermined(by: values.names) }) {
            row.values = values
            hasValues = false
            var decided = decidedEnds(creation.bindings, of: type)
            for inline in creation.inline {
                if let end = decidedEnd(inline.navigation, of: type) { decided.append(end) }
            }
            if let owner, !owner.inverseConstraints.isEmpty { decided.append(owner.relationship.reversed) }
            try synchronizeDependent(row, changed: values.names, decided: decided)
        }
        if metadata.isPrincipal { try synchronizePrincipal(row.id) }
        for inline in creation.inline {
            let end = type.findProperty(inline.navigation)?.navigation
            for child in inline.entities {
                try create(child, through: end)
                try link(new: row.id, type, inline.navigation, to: child.entity, hasValues: false)
            }
        }
        for binding in creation.bindings {
            for target in binding.targets {
                try link(new: row.id, type, binding.navigation, to: target, hasValues: hasValues)
            }
        }
    }

    /// Adds to the values of a new entity the dependent properties that its bindings determine, so that its row is
    /// stored once. The links set the same values. Returns whether a single binding determines all of them, so that its
    /// link does not have to set them again.
    ///
    /// Adds none if entities could be linked by these values before the bindings are: if the entity is a principal
    /// itself, and in a deep insert, whose new entities are linked to those that refer to them.
    private func addPrincipalValues(
        to values: inout PropertyValues, _ creation: Creation, _ metadata: KindMetadata
    ) throws(StateError) -> Bool {
        guard !creation.bindings.isEmpty, creation.inline.isEmpty, !metadata.isPrincipal,
            let relationships = metadata.relationships
        else { return false }
        var hasValues = false
        for binding in creation.bindings {
            guard let principal = binding.targets.last, binding.targets.count == 1,
                let end = metadata.type.findProperty(binding.navigation)?.navigation,
                let constraint = relationships.constraint(end.relationship.name),
                constraint.dependentIsFirst == end.relationship.isForward,
                let source = try lookup.principalValues(principal, constraint)
            else { continue }
            _ = constraint.copyValues(of: source, to: &values, with: storage.state.names)
            // The set of an entity is the one with which it was first registered; its constraints determine the link.
            if creation.bindings.count == 1 { hasValues = try storage.set(of: creation.entity) == creation.set }
        }
        return hasValues
    }

    /// Updates an entity. Has no effect if the entity no longer exists.
    mutating func update(
        _ id: EntityID, changes: PropertyValues, bindings: [Binding], isConsequence: Bool = false
    ) throws(StateError) {
        guard var row = try storage.row(id) else { return }
        if !changes.isEmpty {
            // All values are stored, even if they seem unchanged: 1.5 and 1.50 are equal but not identical, and the app
            // may set a dependent property to null that is null because the principal has no key yet.
            row.values.merge(changes)
            if isConsequence { row.forgetInDraft(changes) }
            try put(row)
            let decided = bindings.isEmpty ? [] : decidedEnds(bindings, of: try type(row.type))
            try synchronizeDependent(row, changed: changes.names, decided: decided)
            try synchronizePrincipal(id)
        }
        try bind(id, bindings)
    }

    /// Returns the relationships with the entity as dependent end whose principal a binding or a deep insert
    /// determines. Their dependent properties are ignored (OData 4.01 Part 1, 11.4.3), because otherwise they could
    /// displace the partner of another entity.
    private func decidedEnds(_ bindings: [Binding], of type: EntityType) -> [Relationship] {
        var decided: [Relationship] = []
        for binding in bindings {
            if let end = decidedEnd(binding.navigation, of: type) { decided.append(end) }
        }
        return decided
    }

    private func decidedEnd(_ navigation: String, of type: EntityType) -> Relationship? {
        guard let end = type.findProperty(navigation)?.navigation, !end.constraints.isEmpty else { return nil }
        return end.relationship
    }

    private mutating func bind(_ id: EntityID, _ bindings: [Binding]) throws(StateError) {
        for binding in bindings {
            for target in binding.targets { try link(from: id, binding.navigation, to: target) }
        }
    }

    /// Deletes an entity with its links, and the partners to which the service cascades the deletion.
    mutating func delete(_ id: EntityID) throws(StateError) {
        // Iterative, because the data determines the length of a chain of partners.
        var left = [id]
        while let id = left.popLast() {
            guard let row = try storage.row(id, reading: .readsExistence) else { continue }
            let partners = try storage.links(of: id).filter {
                $0.inLocal && index.deletesPartner($0.relationship, from: row.set, isFirst: $0.first == id)
            }.map { lookup.partner($0, of: id) }
            let defaults = DependentDefaults(storage: storage, model: model, index: index)
            let defaulted = try defaults.values(afterDeletionOf: row)
            try remove(id, clearing: true)
            for (dependent, values) in defaulted {
                try update(dependent, changes: values, bindings: [], isConsequence: true)
            }
            left += partners.reversed()
        }
    }

    /// Removes an entity and its links, without a cascade.
    ///
    /// - Parameter clearing: Whether the dependent properties that refer to the entity become null.
    mutating func remove(_ id: EntityID, clearing: Bool) throws(StateError) {
        guard try storage.type(of: id) != nil else { return }
        for link in try storage.links(of: id) where link.inLocal {
            try unlink(link, clearing: clearing, isConsequence: true)
        }
        try removeRow(id)
    }

    // MARK: Links

    /// Adds a link, and removes links that the multiplicity of its ends excludes.
    mutating func link(from source: EntityID, _ navigation: String, to target: EntityID) throws(StateError) {
        guard let type = try storage.type(of: source), try storage.type(of: target) != nil else { return }
        try link(from: source, try self.type(type), navigation, to: target)
    }

    /// Adds a link of a new entity, which the layer contains, if the target exists.
    private mutating func link(
        new source: EntityID, _ type: EntityType, _ navigation: String, to target: EntityID, hasValues: Bool
    ) throws(StateError) {
        storage.recordReading(of: source, .readsExistence)
        if try storage.type(of: target) != nil {
            try link(from: source, type, navigation, to: target, hasValues: hasValues)
        }
    }

    /// - Parameter hasValues: Whether the source already has the target's values in its dependent properties.
    private mutating func link(
        from source: EntityID, _ type: EntityType, _ navigation: String, to target: EntityID, hasValues: Bool = false
    ) throws(StateError) {
        guard let end = type.findProperty(navigation)?.navigation else { return }
        let name = end.relationship.name
        let (first, second) = end.relationship.isForward ? (source, target) : (target, source)
        let firstMultiplicity = end.relationship.isForward ? end.multiplicity : end.sourceMultiplicity
        let secondMultiplicity = end.relationship.isForward ? end.sourceMultiplicity : end.multiplicity
        // An unlinked entity may lose values.
        var hasValues = hasValues
        if firstMultiplicity != .many {
            for other in try storage.links(name, first: first) where other.inLocal && other.second != second {
                try unlink(other, clearing: true)
                hasValues = false
            }
        }
        if secondMultiplicity != .many {
            for other in try storage.links(name, second: second) where other.inLocal && other.first != first {
                try unlink(other, clearing: true)
                hasValues = false
            }
        }
        try setLink(name, first, second, true)
        try assignContainedKey(end, from: source, to: target)
        try writeConstraint(name, first: first, second: second, complete: hasValues ? source : nil)
    }

    mutating func unlink(from source: EntityID, _ navigation: String, to target: EntityID) throws(StateError) {
        guard let type = try storage.type(of: source),
            let property = try self.navigation(navigation, of: type), let end = property.navigation
        else {
            return
        }
        if !property.isCollection {
            // The request does not contain the target either: if another client has linked another entity, that link is
            // removed.
            for link in try lookup.partners(end.relationship.name, of: source, isFirst: end.relationship.isForward) {
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

    /// Removes a link.
    ///
    /// - Parameters:
    ///   - clearing: Whether the dependent properties of the link's constraint become null.
    ///   - isConsequence: Whether an entity is deleted, so that this is no change that the user made to a draft.
    mutating func unlink(_ link: LinkRow, clearing: Bool, isConsequence: Bool = false) throws(StateError) {
        try setLink(link.relationship, link.first, link.second, false)
        guard clearing,
            let (constraint, dependent, _) = try lookup.constraint(
                of: link.relationship, first: link.first, second: link.second)
        else { return }
        guard var row = try storage.row(dependent) else { return }
        let keys = try type(row.type).keyProperties.map(\.name)
        // A key property cannot become null; the service decides.
        guard constraint.pairs.allSatisfy({ !keys.contains($0.dependent) }) else { return }
        for pair in constraint.pairs { row.values[pair.dependent] = .null }
        if isConsequence { row.forgetInDraft(PropertyValues(constraint.pairs.map { ($0.dependent, .null) })) }
        try put(row)
    }

    mutating func setLink(
        _ name: String, _ first: EntityID, _ second: EntityID, _ present: Bool
    ) throws(StateError) {
        try watch(first)
        try watch(second)
        if notesTouched {
            touched.entities.insert(first)
            touched.entities.insert(second)
            let ends = DirtySet.LinkEnds(relationship: name, first: first, second: second)
            if !present {
                touched.unlinked.insert(ends)
            } else if !touched.unlinked.isEmpty {
                touched.unlinked.remove(ends)
            }
        }
        try storage.setLink(name, first, second, present)
    }
}
