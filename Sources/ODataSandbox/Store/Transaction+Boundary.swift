internal import EDM
internal import HashTreeCollections

extension Transaction {
    /// Checks all rules that apply between change sets, then increments the versions of changed entities.
    ///
    /// The transaction's state may be kept only after this method has returned.
    mutating func finish() throws(SandboxError) {
        try resolveConstraints()
        for id in touched.sorted() {
            guard let row = state[id], let type = entityType(of: id) else { continue }
            try requireMandatoryEnds(of: row, type)
            try requireValues(of: row, type)
        }
        for id in touched { state.tables[id.set]?.rows[id]?.version += 1 }
    }

    /// Checks that the entities referenced by dependent properties exist now.
    private mutating func resolveConstraints() throws(SandboxError) {
        let waiting = unresolved
        unresolved = []
        for (id, rules) in waiting where state[id] != nil { try follow(rules, from: id) }
        guard let (id, rules) = unresolved.first, let row = state[id] else { return }
        let values = rules.constraints.map { "\($0.dependent) = \(row.values[$0.dependent]?.text ?? "null")" }
        let type = rules.dependent == .first ? rules.secondType : rules.firstType
        throw SandboxError(
            400, .referentialConstraint,
            "\(row.name) refers to an entity of \(type ?? "another type") that does not exist: "
                + values.joined(separator: ", ") + ".",
            target: rules.dependentNames.first, row: id)
    }

    private func requireMandatoryEnds(of row: Row, _ type: EntityType) throws(SandboxError) {
        for property in schema.mandatoryNavigations(of: type) {
            guard let navigation = property.navigation, state.targets(of: row.id, through: navigation).isEmpty else {
                continue
            }
            throw SandboxError(
                created.contains(row.id) ? 400 : 409, .mandatoryEnd,
                "\(row.name) must have a \(property.name): that end of \(navigation.relationship.name) has multiplicity 1.",
                target: property.name, row: row.id)
        }
    }

    private func requireValues(of row: Row, _ type: EntityType) throws(SandboxError) {
        for property in type.properties where !property.isNullable && property.type.primitive != .stream {
            if (row.values[property.name] ?? .null) == .null {
                throw SandboxError(
                    400, .nullNotAllowed, "\(row.name) must have a value for \(property.name).", target: property.name,
                    row: row.id)
            }
        }
    }
}
