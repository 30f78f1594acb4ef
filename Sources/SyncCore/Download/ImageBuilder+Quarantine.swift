import EDM
import ODataWire
import Operations

/// Entities that came and cannot be taken.
extension ImageBuilder {
    /// Notes an entity that nothing tells from others: a key property is missing or null, and no link has the key.
    mutating func setAside(keyless payload: EntityPayload, _ type: EntityType, _ set: EntitySet) {
        let missing = type.keyProperties.filter { (payload.values[$0.name] ?? .null) == .null }.map(\.name)
        let keys = missing.joined(separator: ", ")
        let message =
            missing.isEmpty
            ? "The type \(type.name) has no key, and the entity no entity-id."
            : "The entity has no value for its key \(missing.count == 1 ? "property" : "properties") \(keys)."
        let values = payload.values.map { name, value in
            "\(name): \(PrimitiveLiteral.format(value, version: model.version, form: .url))"
        }
        let text = UnreadableEntity.shortened(values.joined(separator: ", "))
        quarantined.append(
            QuarantinedEntity(
                query: "", set: set.name, reason: .withoutKey, path: missing.first.map { "/" + $0 } ?? "",
                message: message, text: text, hidesOthers: true))
    }

    /// Notes an entity that cannot be read: a value of it, or all of it, since it is too large.
    ///
    /// - Returns: the entity that it is to the store; nil where the store does not have it, or where that cannot be told.
    @discardableResult
    mutating func setAside(_ found: UnreadableEntity, in set: EntitySet) throws(StateError) -> EntityID? {
        let (id, name) = try identity(of: found.entity, in: set)
        quarantined.append(
            QuarantinedEntity(
                query: "", set: set.name, name: name, entity: id,
                reason: found.error.code == .tooLarge ? .tooLarge : .unreadable, path: found.error.path,
                message: found.error.message, text: found.text, hidesOthers: name == nil || found.hasExpanded))
        return id
    }

    /// Who the entity is to the store, and what its URL is below the service root.
    func identity(
        of payload: EntityPayload, in set: EntitySet
    ) throws(StateError) -> (id: EntityID?, name: String?) {
        if set.isSingleton { return (try find(payload, in: set), set.name) }
        let type = payload.type.flatMap(model.findEntityType) ?? set.entityType
        let payload = withKey(payload, type, set)
        let key = KeyPredicate(of: type, in: payload.values).map { links.url(of: $0, in: set) }
        guard let name = key ?? name(payload, type, set) else { return (nil, nil) }
        return (try find(payload, in: set), name)
    }
}
