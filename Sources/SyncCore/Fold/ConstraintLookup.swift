import EDM
import Operations

extension RelationshipIndex.Constraint {
    /// Sets the dependent properties to the principal's values, and those without a value there to null if they are set.
    /// Returns whether a value changed; if not, equal values keep their notation.
    ///
    /// - Parameter names: The cache of name lists, for values that are encoded.
    func copyValues(of principal: PropertyValues, to values: inout PropertyValues, with names: NameTable) -> Bool {
        let isUnchanged = pairs.allSatisfy { pair in
            let known = values[pair.dependent]
            return known == principal[pair.principal] ?? (known == nil ? nil : .null)
        }
        if isUnchanged { return false }
        // Several pairs may name the same property.
        let former = pairs.count > 1 ? values : nil
        for pair in pairs {
            if let value = principal[pair.principal] {
                values.set(value, of: pair.dependent, with: names)
            } else if values[pair.dependent] != nil {
                values.set(.null, of: pair.dependent, with: names)
            }
        }
        guard let former, pairs.allSatisfy({ values[$0.dependent] == former[$0.dependent] }) else { return true }
        values = former
        return false
    }
}

/// Lookups of the entities that referential constraints connect.
struct ConstraintLookup {
    let storage: StateLayer

    /// Returns the constraint that determines the link, with its ends, or nil if none does.
    func constraint(
        of relationship: String, first: EntityID, second: EntityID
    ) throws(StateError) -> (RelationshipIndex.Constraint, dependent: EntityID, principal: EntityID)? {
        if let constraint = try constraint(relationship, dependent: first, isFirst: true) {
            return (constraint, dependent: first, principal: second)
        }
        guard let constraint = try constraint(relationship, dependent: second, isFirst: first == second) else {
            return nil
        }
        return (constraint, dependent: second, principal: first)
    }

    private func constraint(
        _ relationship: String, dependent: EntityID, isFirst: Bool
    ) throws(StateError) -> RelationshipIndex.Constraint? {
        guard let set = try storage.set(of: dependent),
            let constraint = storage.relationships(of: set)?.constraint(relationship),
            constraint.dependentIsFirst == isFirst
        else { return nil }
        return constraint
    }

    /// Returns the principal's values for a comparison of the constraint's properties.
    func principalValues(
        _ id: EntityID, _ constraint: RelationshipIndex.Constraint
    ) throws(StateError) -> PropertyValues? {
        let content = try storage.content(of: id, reading: .readsKeys)
        if let content, content.kind.set == constraint.principalSet { return content.values }
        // For an entity of another set the constraints may not compare these properties, so all values count as read.
        return try storage.content(of: id, reading: .readsValues)?.values
    }

    /// Returns whether the dependent properties of `row` have the principal's values.
    func isNamed(
        _ principal: EntityID, by constraint: RelationshipIndex.Constraint, _ row: EntityRow
    ) throws(StateError) -> Bool {
        guard let source = try principalValues(principal, constraint) else { return false }
        return constraint.pairs.allSatisfy { pair in
            guard let value = row.values[pair.dependent], value != .null else { return false }
            return source[pair.principal] == value
        }
    }

    /// Returns whether the dependent entity is linked to another principal with the same values. The key of a new
    /// entity is provisional: while another entity has it, the partners of that entity are unchanged.
    func isTaken(
        _ dependent: EntityID, by constraint: RelationshipIndex.Constraint, besides id: EntityID
    ) throws(StateError) -> Bool {
        guard let row = try storage.row(dependent, reading: .readsKeys) else { return false }
        for link in try partners(constraint.relationship, of: dependent, isFirst: constraint.dependentIsFirst) {
            let principal = partner(link, of: dependent)
            if principal != id, try isNamed(principal, by: constraint, row) { return true }
        }
        return false
    }

    /// Returns the entity to which the dependent properties of `row` refer: a current partner, or else the first one
    /// that matches.
    func principal(
        _ constraint: RelationshipIndex.Constraint, of row: EntityRow, among current: [LinkRow]
    ) throws(StateError) -> EntityID? {
        for link in current {
            let known = partner(link, of: row.id)
            if try isNamed(known, by: constraint, row) { return known }
        }
        var values: [(property: String, value: Value)] = []
        for pair in constraint.pairs {
            guard let value = row.values[pair.dependent], value != .null else { return nil }
            values.append((pair.principal, value))
        }
        return try storage.findRows(set: constraint.principalSet, where: values).first
    }

    /// Returns the entity that has the key of a removed one now, if entities of other sets may refer to it. Both are in
    /// the store if a download delivered an entity before its creation was confirmed.
    func successor(of removed: EntityRow) throws(StateError) -> EntityID? {
        guard storage.relationships(of: removed.set)?.principals.isEmpty == false,
            let type = storage.entityType(removed.type), let key = KeyText.of(removed.values, type: type),
            let successor = try storage.state.entity(set: removed.set, key: key), successor != removed.id
        else { return nil }
        return successor
    }

    /// Returns the links of an end in the current layer.
    func partners(
        _ relationship: String, of id: EntityID, isFirst: Bool
    ) throws(StateError) -> [LinkRow] {
        let links = isFirst ? try storage.links(relationship, first: id) : try storage.links(relationship, second: id)
        return links.allSatisfy(\.inLocal) ? links : links.filter(\.inLocal)
    }

    /// Returns the other end of a link.
    func partner(_ link: LinkRow, of id: EntityID) -> EntityID { link.first == id ? link.second : link.first }
}
