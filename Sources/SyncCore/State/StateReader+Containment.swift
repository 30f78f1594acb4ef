package import EDM
package import ODataQuery
package import Operations

/// Contained entities and their containers, found by the links between them.
extension StateReader {
    /// Returns the container of an entity of the set, or the former one if the entity was deleted locally. Nil if the
    /// set is not contained.
    package func container(of id: EntityID, in set: EntitySet) throws(StateError) -> EntityID? {
        guard let relationship = set.containment?.relationship else { return nil }
        let links = try containers(of: id, relationship)
        return (links.first(where: \.inLocal) ?? links.first).map { relationship.isForward ? $0.first : $0.second }
    }

    private func containers(of id: EntityID, _ relationship: Relationship) throws(StateError) -> [LinkRow] {
        relationship.isForward
            ? try links(relationship.name, second: id) : try links(relationship.name, first: id)
    }

    /// Returns the entities of a contained set in an entity, in base or current state.
    package func contained(in parent: EntityID, _ set: EntitySet) throws(StateError) -> [EntityID] {
        guard let end = set.containment?.navigation.navigation else { return [] }
        return try links(of: parent, along: end).map { $0.target(along: end) }
    }

    /// Returns the text of an entity's key in the key map, or nil if it has none yet.
    ///
    /// - Parameter key: See ``KeyText``.
    func keyText(_ key: String?, of id: EntityID, in set: EntitySet) throws(StateError) -> String? {
        guard set.isContained else { return key }
        guard key != nil || set.isContainedSingle, let parent = try container(of: id, in: set) else { return nil }
        return ContainedKey.text(parent, set.isContainedSingle ? nil : key)
    }

    /// Returns the entity of a contained set that has the key in `parent`, or else the last entity that had it.
    ///
    /// - Parameter key: The key, or nil if a parent contains at most one entity.
    package func entity(
        of set: EntitySet, key: KeyPredicate?, in parent: EntityID
    ) throws(StateError) -> EntityID? {
        let mapped = try entity(set: set.name, key: ContainedKey.text(parent, key.map(KeyText.of)))
        if let mapped, try has(mapped, key, in: set) { return mapped }
        // A new local entity is not in the key map.
        for id in try contained(in: parent, set) where try self.set(of: id) == set.name {
            if try has(id, key, in: set) { return id }
        }
        return mapped
    }

    /// Returns whether the entity exists and has the key, if one is given.
    private func has(_ id: EntityID, _ key: KeyPredicate?, in set: EntitySet) throws(StateError) -> Bool {
        guard let row = try row(id) else { return false }
        return key?.matches(row.values, of: set.entityType) ?? true
    }
}
