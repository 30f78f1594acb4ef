import EDM
import ODataWire
import Operations

/// The identity of an entity in a payload apart from the key: the entity-id and the editLink.
extension ImageBuilder {
    /// Returns the payload with the key from its links, if it lacks the key.
    func withKey(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> EntityPayload {
        guard payload.editLink != nil || payload.id != nil, !set.isSingleton,
            KeyPredicate(of: type, in: payload.values) == nil,
            let key = [payload.editLink, payload.id].lazy.compactMap({ $0 }).compactMap({ links.key(in: $0, of: set) })
                .first
        else { return payload }
        var payload = payload
        for (path, value) in key.located(in: type) where payload.values.value(at: path) == nil {
            payload.values.set(value, at: path)
        }
        return payload
    }

    /// Returns the service's name of the entity, if it does not follow from the key. The editLink is used only if there
    /// is no entity-id, because it may differ in each response.
    func name(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> String? {
        unconventional(payload.id ?? payload.editLink, payload, type, set)
    }

    /// Returns the URL for requests, if it does not follow from the key.
    func editLink(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> String? {
        unconventional(payload.editLink, payload, type, set)
    }

    private func unconventional(
        _ link: String?, _ payload: EntityPayload, _ type: EntityType, _ set: EntitySet
    ) -> String? {
        guard let link, !set.isSingleton else { return nil }
        if set.isContainedSingle, links.containmentPath(in: link)?.set == set { return nil }
        if let key = KeyPredicate(of: type, in: payload.values), links.isConventional(link, set, key) { return nil }
        return links.relative(link)
    }

    func entity(named name: String, _ set: EntitySet) throws(StateError) -> EntityID? {
        if let id = assigned[EntityNames<Storage>.namesSet, name] { return try isOne(id, of: set) ? id : nil }
        if let id = try storage.entity(set: EntityNames<Storage>.namesSet, key: name) {
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

    /// Returns whether the service uses another name for the entity. Then an equal key does not mean the same entity.
    func isNamedOtherwise(_ id: EntityID, _ name: String?) throws(StateError) -> Bool {
        guard let name, let known = try storage.row(id)?.editLink else { return false }
        return !known.isExactly(name)
    }
}
