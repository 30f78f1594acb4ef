import EDM
import ODataQuery
import ODataWire
import Operations

/// Entities by the names that the service uses for them.
extension ImageBuilder {
    func entity(named name: String, _ set: EntitySet) throws(StateError) -> EntityID? {
        if let id = assigned[EntityNames<WorkingSet>.namesSet, name] { return try isOne(id, of: set) ? id : nil }
        if let id = try storage.entity(set: EntityNames<WorkingSet>.namesSet, key: name) {
            return try storage.set(of: id) == set.name ? id : nil
        }
        if set.isContained {
            guard let path = links.containmentPath(in: name), path.set == set else { return nil }
            return try entity(at: path)
        }
        // A service may continue to use the first key of an entity in its name.
        return try links.key(in: name, of: set).flatMap { key throws(StateError) in
            try storage.entity(set: set.name, key: KeyText.of(key))
        }
    }

    /// Returns whether the payload contains the key of an entity, or the path of a contained one, or if not, whether the
    /// service names all entities of the set in its own way, so that the store has none with the name. An entity of a
    /// type without a key is only known by its name.
    mutating func identifies(
        _ payload: EntityPayload, in set: EntitySet, below parent: EntityID?
    ) throws(StateError) -> Bool {
        let type = model.entityType(of: payload, in: set)
        guard !set.isSingleton, !type.keyProperties.isEmpty else { return true }
        if set.isContained {
            if let id = payload.id, links.containmentPath(in: id)?.set == set { return true }
            if try container(of: payload, in: set, known: nil, below: parent) == nil { return false }
            if set.isContainedSingle { return true }
        }
        if KeyPredicate(of: type, in: (links.keyed(payload, type, set) ?? payload).values) != nil { return true }
        guard payload.id != nil, !set.isContained else { return false }
        if let areNamed = named[set.name] { return areNamed }
        let areNamed = try links.areNames(of: set, in: storage)
        named[set.name] = areNamed
        return areNamed
    }
}

extension EntityLinks {
    /// Returns whether the names of all entities of the set that the service has do not follow from their keys.
    fileprivate func areNames(of set: EntitySet, in storage: WorkingSet) throws(StateError) -> Bool {
        for id in try storage.rows(set: set.name) {
            guard let row = try storage.serviceRow(id) else { continue }
            guard let name = row.editLink, key(in: name, of: set) == nil else { return false }
        }
        return true
    }

    /// Returns whether the service uses another name for the entity. Then an equal key does not mean the same entity.
    func namesOtherwise(_ id: EntityID, _ name: String?, in storage: WorkingSet) throws(StateError) -> Bool {
        guard let name, let known = try storage.row(id)?.editLink else { return false }
        return !known.isExactly(name)
    }
}
