import EDM
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

    /// Returns whether the service uses another name for the entity. Then an equal key does not mean the same entity.
    func isNamedOtherwise(_ id: EntityID, _ name: String?) throws(StateError) -> Bool {
        guard let name, let known = try storage.row(id)?.editLink else { return false }
        return !known.isExactly(name)
    }
}
