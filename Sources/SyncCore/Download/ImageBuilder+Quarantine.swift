import EDM
import ODataQuery
import ODataWire
import Operations

/// Received entities that cannot be applied.
extension ImageBuilder {
    /// Quarantines an entity that cannot be read because of an invalid value, or because it is too large.
    ///
    /// - Parameter parent: The parent of the entity in the payload, if there is one.
    /// - Returns: The ID of the entity, or nil if the store does not have it or its identity is unknown.
    @discardableResult
    mutating func addToQuarantine(
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

    /// Returns the ID of the entity, and its URL relative to the service root.
    ///
    /// - Parameter parent: The parent of the entity in the payload, if there is one.
    func identity(
        of payload: EntityPayload, in set: EntitySet, below parent: EntityID? = nil
    ) throws(StateError) -> (id: EntityID?, name: String?) {
        if set.isSingleton { return (try find(payload, in: set), set.name) }
        let type = model.entityType(of: payload, in: set)
        let payload = links.keyed(payload, type, set) ?? payload
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
        guard let name = key ?? links.name(payload, type, set) else { return (nil, nil) }
        return (try find(payload, in: set), name)
    }

    private var names: EntityNames<WorkingSet> { EntityNames(storage: storage, model: model, serviceRoot: "") }
}

extension QuarantinedEntity {
    /// Creates the entry of an entity without an identity: a key property is missing or null, and no link contains the key.
    ///
    /// - Parameter isPlaced: False for a contained entity whose container is unknown.
    init(
        keyless payload: EntityPayload, _ type: EntityType, _ set: EntitySet, isPlaced: Bool, version: ODataVersion
    ) {
        let missing = type.keyProperties.filter { (payload.values[$0.name] ?? .null) == .null }.map(\.name)
        let keys = missing.joined(separator: ", ")
        let message =
            !isPlaced
            ? "The response does not state which entity contains it."
            : missing.isEmpty
                ? "The type \(type.name) has no key, and the entity has no entity-id."
                : "The entity has no value for its key \(missing.count == 1 ? "property" : "properties") \(keys)."
        let values = payload.values.map { name, value in
            "\(name): \(PrimitiveLiteral.format(value, version: version, form: .url))"
        }
        let text = UnreadableEntity.shortened(values.joined(separator: ", "))
        self.init(
            query: "", set: set.name, reason: .withoutKey, path: isPlaced ? missing.first.map { "/" + $0 } ?? "" : "",
            message: message, text: text, hidesOthers: true)
    }
}
