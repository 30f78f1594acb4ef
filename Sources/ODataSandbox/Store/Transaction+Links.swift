internal import EDM
internal import HashTreeCollections
internal import ODataQuery

extension Transaction {
    /// Links two entities through a navigation property of the source.
    ///
    /// At an end of at most one entity, the existing link is replaced. Whether the displaced entity may lose its link
    /// is checked at the end of the transaction.
    mutating func link(_ source: RowID, _ property: Property, to target: RowID) throws(SandboxError) {
        guard let navigation = property.navigation, let type = entityType(of: target) else { throw Self.gone }
        guard schema.model.isType(type.name, derivedFrom: navigation.targetType) else {
            throw SandboxError(
                400, .typeMismatch, "\(property.name) leads to \(navigation.targetType), not to \(type.name).",
                target: property.name)
        }
        let isForward = navigation.relationship.isForward
        try connect(isForward ? source : target, isForward ? target : source, schema.rules(of: navigation))
    }

    /// Removes a link.
    ///
    /// - Parameter target: The target. Nil removes the link of a single-valued navigation property, whatever its target
    ///   is.
    mutating func unlink(_ source: RowID, _ property: Property, from target: RowID?) throws(SandboxError) {
        guard let navigation = property.navigation else { throw Self.gone }
        let rules = schema.rules(of: navigation)
        let isForward = navigation.relationship.isForward
        guard let target else {
            disconnectAll(source, rules, isFirst: isForward)
            return
        }
        let (first, second) = isForward ? (source, target) : (target, source)
        guard state.links[rules.name]?.contains(first, second) == true else {
            throw SandboxError(
                404, .notLinked, "The two entities are not linked through \(property.name).", target: property.name)
        }
        disconnect(first, second, rules)
    }

    /// Creates the link that the dependent properties of `id` define, if all of them are set.
    mutating func follow(_ rules: RelationshipRules, from id: RowID) throws(SandboxError) {
        guard let row = state[id], !rules.dependentNames.contains(where: { (row.values[$0] ?? .null) == .null }) else {
            return
        }
        guard let principal = principal(of: row, rules) else {
            unresolved.append((id, rules))
            return
        }
        if rules.dependent == .first {
            try connect(id, principal, rules)
        } else {
            try connect(principal, id, rules)
        }
    }

    /// Returns the entity whose principal properties equal the dependent properties of `row`.
    func principal(of row: Row, _ rules: RelationshipRules) -> RowID? {
        guard let set = principalSet(of: row.id.set, rules) else { return nil }
        let wanted = rules.constraints.map { ($0.principal, row.values[$0.dependent] ?? .null) }
        let byName = PropertyValues(wanted)
        if set.entityType.keyParts.count == wanted.count, let key = KeyPredicate(of: set.entityType, in: byName) {
            return state.find(set.name, key)
        }
        return state.rows(of: set.name).first { candidate in
            wanted.allSatisfy { candidate.values[$0.0] == $0.1 }
        }?.id
    }

    private func principalSet(of dependentSet: String, _ rules: RelationshipRules) -> EntitySet? {
        let navigation = rules.dependent == .first ? rules.forward : rules.backward
        if let navigation, let set = schema.model.findEntitySet(dependentSet) {
            return schema.model.target(of: navigation, in: set)
        }
        let type = rules.dependent == .first ? rules.secondType : rules.firstType
        return schema.model.entitySets.first { $0.entityType.name == type }
    }

    private mutating func connect(_ first: RowID, _ second: RowID, _ rules: RelationshipRules) throws(SandboxError) {
        guard state.links[rules.name]?.contains(first, second) != true else { return }
        if rules.secondMultiplicity != .many { disconnectAll(first, rules, isFirst: true) }
        if rules.firstMultiplicity != .many { disconnectAll(second, rules, isFirst: false) }
        state.links[rules.name, default: LinkTable()].insert(first, second)
        touched.formUnion([first, second])
        guard let dependent = rules.dependent else { return }
        let (dependentRow, principalRow) = dependent == .first ? (first, second) : (second, first)
        for constraint in rules.constraints {
            let value = state[principalRow]?.values[constraint.principal] ?? .null
            if let own = state[dependentRow]?.key[constraint.dependent], own != value {
                throw SandboxError(
                    400, .referentialConstraint, "\(constraint.dependent) is part of the key and names another entity.",
                    target: constraint.dependent, row: dependentRow)
            }
            assign(value, to: constraint.dependent, of: dependentRow)
        }
    }

    mutating func disconnectAll(_ id: RowID, _ rules: RelationshipRules, isFirst: Bool) {
        for partner in (state.links[rules.name]?.partners(of: id, fromFirst: isFirst) ?? []).sorted() {
            disconnect(isFirst ? id : partner, isFirst ? partner : id, rules)
        }
    }

    private mutating func disconnect(_ first: RowID, _ second: RowID, _ rules: RelationshipRules) {
        state.links[rules.name]?.remove(first, second)
        touched.formUnion([first, second])
        guard let dependent = rules.dependent else { return }
        let row = dependent == .first ? first : second
        for name in rules.dependentNames where state[row]?.key[name] == nil { assign(.null, to: name, of: row) }
    }

    /// Copies the principal properties of `id` to the entities that depend on them.
    mutating func alignDependents(of id: RowID, _ type: EntityType) {
        for (rules, isFirst) in schema.relationships(of: type) {
            guard let dependent = rules.dependent, (dependent == .first) != isFirst else { continue }
            for partner in state.links[rules.name]?.partners(of: id, fromFirst: isFirst) ?? [] {
                for constraint in rules.constraints where state[partner]?.key[constraint.dependent] == nil {
                    let value = state[id]?.values[constraint.principal] ?? .null
                    guard state[partner]?.values[constraint.dependent] != value else { continue }
                    assign(value, to: constraint.dependent, of: partner)
                    touched.insert(partner)
                }
            }
        }
    }

    mutating func assign(_ value: Value, to name: String, of id: RowID) {
        state.tables[id.set]?.rows[id]?.values[name] = value
    }
}

extension RelationshipRules {
    var dependentNames: [String] { constraints.map(\.dependent) }
}
