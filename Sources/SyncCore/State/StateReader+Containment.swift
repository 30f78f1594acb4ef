public import EDM
public import ODataWire
public import Operations

/// Contained entities and those that contain them, by the links between them.
extension StateReader {
    /// The entity that contains another one of that set; of an entity that was deleted here, the one that contained it. Nil
    /// where the set is not contained in another one.
    public func container(of id: EntityID, in set: EntitySet) throws(StateError) -> EntityID? {
        guard let relationship = set.containment?.relationship else { return nil }
        let links = try containers(of: id, relationship)
        return (links.first(where: \.inLocal) ?? links.first).map { relationship.isForward ? $0.first : $0.second }
    }

    private func containers(of id: EntityID, _ relationship: Relationship) throws(StateError) -> [LinkRow] {
        relationship.isForward
            ? try links(relationship.name, second: id) : try links(relationship.name, first: id)
    }

    /// The entities of a contained set that an entity contains, in base or local state.
    public func contained(in parent: EntityID, _ set: EntitySet) throws(StateError) -> [EntityID] {
        guard let end = set.containment?.navigation.navigation else { return [] }
        return try links(of: parent, along: end).map { $0.target(along: end) }
    }

    /// The key map's text for an entity's key, nil where it has none yet.
    ///
    /// - Parameter key: see ``KeyText``.
    func keyText(_ key: String?, of id: EntityID, in set: EntitySet) throws(StateError) -> String? {
        guard set.isContained else { return key }
        guard key != nil || set.isContainedSingle, let parent = try container(of: id, in: set) else { return nil }
        return ContainedKey.text(parent, set.isContainedSingle ? nil : key)
    }

    /// The entity of a contained set that has the key below `parent`, or else the one that had it last.
    ///
    /// - Parameter key: nil where a parent contains one entity at most.
    public func entity(
        of set: EntitySet, key: KeyPredicate?, in parent: EntityID
    ) throws(StateError) -> EntityID? {
        let mapped = try entity(set: set.name, key: ContainedKey.text(parent, key.map(KeyText.of)))
        if let mapped, try has(mapped, key, in: set) { return mapped }
        // One that is new here is in no map.
        for id in try contained(in: parent, set) where try self.set(of: id) == set.name {
            if try has(id, key, in: set) { return id }
        }
        return mapped
    }

    /// Whether the entity is there, with the key if there is one.
    private func has(_ id: EntityID, _ key: KeyPredicate?, in set: EntitySet) throws(StateError) -> Bool {
        guard let row = try row(id) else { return false }
        return key?.matches(row.values, of: set.entityType) ?? true
    }
}
