import EDM
import ODataWire
import Operations

/// What a payload says of its entity's identity besides the key: the entity-id and the editLink.
extension ImageBuilder {
    /// A payload without its key may say it in its links.
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

    /// How the service names the entity, where that does not follow from its key. An editLink tells who it is only where
    /// nothing else does: it may be another one at each reading.
    func name(_ payload: EntityPayload, _ type: EntityType, _ set: EntitySet) -> String? {
        unconventional(payload.id ?? payload.editLink, payload, type, set)
    }

    /// Where requests go, where that does not follow from the key.
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
        // A service may go on naming an entity by the key that it had first.
        return try links.key(in: name, of: set).flatMap { key throws(StateError) in
            try storage.entity(set: set.name, key: KeyText.of(key))
        }
    }

    /// Whether the service names the entity in another way: then the same key is not the same entity.
    func isNamedOtherwise(_ id: EntityID, _ name: String?) throws(StateError) -> Bool {
        guard let name, let known = try storage.row(id)?.editLink else { return false }
        return !known.isExactly(name)
    }
}
