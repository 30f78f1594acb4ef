import EDM
import ODataWire
import Operations

/// Entities that came and cannot be taken.
extension ImageBuilder {
    /// Notes an entity that nothing tells from others: a key property is missing or null, and no link has the key.
    ///
    /// - Parameter isPlaced: false for a contained entity if nothing says which entity contains it.
    mutating func setAside(
        keyless payload: EntityPayload, _ type: EntityType, _ set: EntitySet, isPlaced: Bool
    ) {
        let missing = type.keyProperties.filter { (payload.values[$0.name] ?? .null) == .null }.map(\.name)
        let keys = missing.joined(separator: ", ")
        let message =
            !isPlaced
            ? "Nothing says which entity contains it."
            : missing.isEmpty
                ? "The type \(type.name) has no key, and the entity no entity-id."
                : "The entity has no value for its key \(missing.count == 1 ? "property" : "properties") \(keys)."
        let values = payload.values.map { name, value in
            "\(name): \(PrimitiveLiteral.format(value, version: model.version, form: .url))"
        }
        let text = UnreadableEntity.shortened(values.joined(separator: ", "))
        quarantined.append(
            QuarantinedEntity(
                query: "", set: set.name, reason: .withoutKey,
                path: isPlaced ? missing.first.map { "/" + $0 } ?? "" : "",
                message: message, text: text, hidesOthers: true))
    }

    /// Notes an entity that cannot be read: a value of it, or all of it, since it is too large.
    ///
    /// - Parameter parent: the entity that contains it, where it came below that one.
    /// - Returns: the entity that it is to the store; nil where the store does not have it, or where that cannot be told.
    @discardableResult
    mutating func setAside(
        _ found: UnreadableEntity, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> EntityID? {
        let (id, name) = try identity(of: found.entity, in: set, below: parent)
        quarantined.append(
            QuarantinedEntity(
                query: "", set: set.name, name: name, entity: id,
                reason: found.error.code == .tooLarge ? .tooLarge : .unreadable, path: found.error.path,
                message: found.error.message, text: found.text, hidesOthers: name == nil || found.hasExpanded))
        return id
    }

    /// Who the entity is to the store, and what its URL is below the service root.
    ///
    /// - Parameter parent: the entity that contains it, where it came below that one.
    func identity(
        of payload: EntityPayload, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> (id: EntityID?, name: String?) {
        if set.isSingleton { return (try find(payload, in: set), set.name) }
        let type = payload.type.flatMap(model.findEntityType) ?? set.entityType
        let payload = withKey(payload, type, set)
        if let containment = set.containment {
            let container = try container(of: payload, in: set, known: nil, below: parent)
            let key = set.isContainedSingle ? "" : links.predicate(of: type, in: payload.values)
            guard let container, let key else { return (nil, nil) }
            let link = isNew(container) ? nil : try storage.row(container).map { names.readLink($0) }
            let cast = containment.cast.map { $0 + "/" } ?? ""
            let name = link.map { "\($0)/\(cast)\(containment.navigation.name)" } ?? set.name
            return (try find(payload, in: set, below: container), name + key)
        }
        let key = KeyPredicate(of: type, in: payload.values).map { links.url(of: $0, in: set) }
        guard let name = key ?? name(payload, type, set) else { return (nil, nil) }
        return (try find(payload, in: set), name)
    }

    private var names: EntityNames<Storage> { EntityNames(storage: storage, model: model, serviceRoot: "") }
}
