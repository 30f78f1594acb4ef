internal import EDM
internal import HashTreeCollections
internal import ODataQuery

/// An atomic group of changes: a copy of the state that is kept only if all rules are satisfied at the end.
///
/// Links, inverse links and referential constraints are kept consistent with each change. ``finish()`` checks mandatory
/// ends and the existence of referenced entities once, so that a change set may pass through states that would
/// otherwise be rejected (the two halves of a swap).
struct Transaction {
    let schema: SandboxSchema
    var state: SandboxState
    /// The entities whose values or links have changed.
    var touched: Set<RowID> = []
    private(set) var created: Set<RowID> = []
    /// Dependent properties without a matching principal. A later request of the change set may create it.
    var unresolved: [(row: RowID, rules: RelationshipRules)] = []

    init(on state: SandboxState, schema: SandboxSchema) {
        self.state = state
        self.schema = schema
    }

    /// Inserts an entity.
    ///
    /// - Parameters:
    ///   - given: The values in the request's body.
    ///   - bound: The relationships that the request sets; their dependent properties are ignored.
    ///   - container: The entity that contains the new one, if the set is a contained one.
    mutating func insert(
        into set: EntitySet, values given: PropertyValues, bound: Set<String> = [], media: Row.Media? = nil,
        in container: RowID? = nil
    ) throws(SandboxError) -> RowID {
        if set.isContained, container == nil {
            throw SandboxError(
                400, .badRequest, "Entities of \(set.name) must be created inside the entity that contains them.",
                target: set.name)
        }
        let type = set.entityType
        try check(given, of: type)
        var values = initialValues(of: type, given)
        if let key = generatedKey(of: set), let container, let end = set.containment?.navigation.navigation {
            // Numbered per container, as in TripPin.
            let siblings = state.targets(of: container, through: end)
            let used = siblings.compactMap { state[$0]?.values[key.name]?.integerValue }
            values[key.name] = .integer((used.max() ?? 0) &+ 1)
        } else if let key = generatedKey(of: set) {
            state.tables[set.name, default: SandboxState.Table()].counter += 1
            values[key.name] = .integer(state.tables[set.name]?.counter ?? 0)
        }
        // No request can name the entities of a type without a key.
        let number = KeyPredicate([("", .integer(Int64(state.lastRow + 1)))])
        guard let key = type.keyParts.isEmpty ? number : KeyPredicate(of: type, in: values) else {
            let missing = type.keyParts.first { (values.value(at: $0.path) ?? .null) == .null }?.path
            throw SandboxError(
                400, .missingKey, "\(set.name) requires a value for its key property \(missing ?? "").", target: missing
            )
        }
        let known =
            container.map { state.find(set, set.isContainedSingle ? nil : key, in: $0) } ?? state.find(set.name, key)
        guard known == nil else {
            throw SandboxError(
                409, .duplicateKey, "\(set.name) already contains an entity with the key \(key.text).", target: set.name
            )
        }
        let dependencies = constrained(type)
        for rules in dependencies where bound.contains(rules.name) {
            for name in rules.dependentNames where key[name] == nil { values[name] = .null }
        }
        state.lastRow += 1
        let id = RowID(set: set.name, number: state.lastRow)
        state.tables[set.name, default: SandboxState.Table()].rows[id] = Row(
            id: id, key: key, values: values, version: 0, media: media, container: container)
        if container == nil { state.tables[set.name]?.index[key] = id }
        created.insert(id)
        touched.insert(id)
        for rules in dependencies where !bound.contains(rules.name) { try follow(rules, from: id) }
        return id
    }

    /// Updates an entity.
    ///
    /// - Parameter replaces: Whether this is a PUT, which resets omitted properties to their initial values; key and
    ///   dependent properties are kept (OData 4.01 Part 1, 11.4.3).
    mutating func update(
        _ id: RowID, with given: PropertyValues, replaces: Bool = false, bound: Set<String> = []
    ) throws(SandboxError) {
        guard let row = state[id], let type = entityType(of: id) else { throw Self.gone }
        try check(given, of: type)
        let dependencies = constrained(type)
        let dependents = Set(dependencies.flatMap(\.dependentNames))
        var values = replaces ? replaced(row, of: type, keeping: dependents) : row.values
        for (name, value) in given where row.key[name] == nil && !dependents.contains(name) { values[name] = value }
        for (path, value) in row.key.located(in: type) where path.utf8.contains(UInt8(ascii: "/")) {
            values.set(value, at: path)
        }
        state.tables[id.set]?.rows[id]?.values = values
        touched.insert(id)
        try deriveKey(of: id, given)
        alignDependents(of: id, type)
        for rules in dependencies where !bound.contains(rules.name) {
            let changes = rules.dependentNames.filter {
                row.key[$0] == nil && given[$0] != nil && given[$0] != row.values[$0]
            }
            guard !changes.isEmpty else { continue }
            disconnectAll(id, rules, isFirst: rules.dependent == .first)
            for name in rules.dependentNames where row.key[name] == nil {
                assign(given[name] ?? row.values[name] ?? .null, to: name, of: id)
            }
            try follow(rules, from: id)
        }
    }

    /// Updates the key from the property that it is derived from.
    private mutating func deriveKey(of id: RowID, _ given: PropertyValues) throws(SandboxError) {
        guard let source = schema.configuration.derivedKeys[id.set], let value = given[source], value != .null,
            let row = state[id], let name = entityType(of: id)?.keyProperties.first?.name, row.key[name] != value
        else { return }
        let key = KeyPredicate(row.key.values.map { ($0.name, $0.name == name ? value : $0.value) })
        guard state.find(id.set, key) == nil else {
            throw SandboxError(409, .duplicateKey, "\(id.set) already contains an entity with the key \(key.text).")
        }
        state.tables[id.set]?.index[row.key] = nil
        state.tables[id.set]?.formerKeys[row.key] = id
        state.tables[id.set]?.index[key] = id
        state.tables[id.set]?.rows[id]?.key = key
        assign(value, to: name, of: id)
    }

    /// Deletes an entity and, by `OnDelete` and containment in the metadata, its dependents.
    mutating func delete(_ id: RowID) throws(SandboxError) {
        guard let row = state[id], let type = entityType(of: id) else { throw Self.gone }
        let dependents = type.navigationProperties.compactMap(\.navigation).filter {
            $0.onDelete == "Cascade" || $0.containsTarget
        }
        .flatMap { state.targets(of: id, through: $0) }
        let defaulted = dependentsWithDefaults(of: id, type)
        for (rules, isFirst) in schema.relationships(of: type) { disconnectAll(id, rules, isFirst: isFirst) }
        state.tables[id.set]?.rows[id] = nil
        if row.container == nil { state.tables[id.set]?.index[row.key] = nil }
        touched.remove(id)
        created.remove(id)
        for (dependent, values) in defaulted where state[dependent] != nil { try update(dependent, with: values) }
        for dependent in dependents where state[dependent] != nil { try delete(dependent) }
    }

    mutating func setMedia(_ media: Row.Media, of id: RowID) throws(SandboxError) {
        guard state[id] != nil else { throw Self.gone }
        state.tables[id.set]?.rows[id]?.media = media
        touched.insert(id)
    }

    /// Sets the content of a stream property, or deletes it.
    mutating func setStream(_ content: Row.Media?, _ property: String, of id: RowID) {
        state.tables[id.set]?.rows[id]?.streams[property] = content
        touched.insert(id)
    }

    static var gone: SandboxError { SandboxError(404, .notFound, "The entity does not exist.") }

    func entityType(of id: RowID) -> EntityType? { schema.model.findEntitySet(id.set)?.entityType }

    /// Returns the relationships in which entities of the type have the dependent properties.
    private func constrained(_ type: EntityType) -> [RelationshipRules] {
        schema.relationships(of: type).filter {
            ($0.rules.dependent == .first) == $0.isFirst && $0.rules.dependent != nil
        }
        .map(\.rules)
    }

    private func generatedKey(of set: EntitySet) -> Property? {
        guard schema.configuration.generatedKeys.contains(set.name), set.entityType.keyParts.count == 1 else {
            return nil
        }
        return set.entityType.keyProperties.first { $0.type.primitive?.isInteger == true }
    }

    private func initialValues(of type: EntityType, _ given: PropertyValues) -> PropertyValues {
        var values = PropertyValues()
        for property in type.properties where property.type.primitive != .stream {
            values[property.name] = given[property.name] ?? (property.isCollection ? .collection([]) : .null)
        }
        if type.isOpen { values.merge(given) }
        return values
    }

    private func replaced(_ row: Row, of type: EntityType, keeping dependents: Set<String>) -> PropertyValues {
        var values = initialValues(of: type, [:])
        for name in row.values.names where row.key[name] != nil || dependents.contains(name) {
            values[name] = row.values[name]
        }
        return values
    }

    /// Rejects unknown properties and invalid values.
    ///
    /// Null is checked at the end of the transaction, because a dependent property may still get its value from a link.
    private func check(_ given: PropertyValues, of type: EntityType) throws(SandboxError) {
        for (name, value) in given {
            guard let property = type.findProperty(name), !property.isNavigation else {
                if type.isOpen { continue }
                throw SandboxError(
                    400, .unknownProperty, "\(type.localName) has no property \(name).", target: name)
            }
            guard value != .null else { continue }
            let reason = value.mismatch(
                with: property.type, facets: property.facets, isNullable: property.isNullable, in: schema.model)
            if let reason {
                throw SandboxError(400, .typeMismatch, "\(type.localName)/\(name) \(reason).", target: name)
            }
        }
    }
}
