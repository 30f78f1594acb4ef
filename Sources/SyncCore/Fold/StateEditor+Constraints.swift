import EDM
import Operations

/// Keeps the dependent properties of referential constraints and their links consistent.
extension StateEditor {
    /// Copies the principal's values to the dependent entity of a new link. They are null while the principal has no
    /// key.
    ///
    /// - Parameter complete: An entity that already has the values if it is the dependent one.
    mutating func writeConstraint(
        _ relationship: String, first: EntityID, second: EntityID, complete: EntityID?
    ) throws(StateError) {
        guard
            let (constraint, dependent, principal) = try lookup.constraint(
                of: relationship, first: first, second: second)
        else { return }
        // The principal's values were recorded as read when they were added.
        if dependent == complete { return storage.recordReading(of: dependent, .readsKeys) }
        try copyPrincipalValues(constraint, from: principal, to: dependent)
    }

    private mutating func copyPrincipalValues(
        _ constraint: RelationshipIndex.Constraint, from principal: EntityID, to dependent: EntityID
    ) throws(StateError) {
        guard let source = try lookup.principalValues(principal, constraint),
            var values = try storage.content(of: dependent, reading: .readsKeys)?.values,
            constraint.copyValues(of: source, to: &values, with: storage.state.names),
            var row = try storage.row(dependent, reading: .readsKeys)
        else { return }
        row.values = values
        try put(row)
    }

    /// Updates the links of an entity from its dependent properties, which determine its principals.
    ///
    /// - Parameters:
    ///   - decided: The relationships, from the entity's perspective, whose links are determined otherwise.
    ///   - clearing: Whether the dependent properties of displaced entities become null.
    mutating func synchronizeDependent(
        _ row: EntityRow, changed: [String], decided: [Relationship] = [], clearing: Bool = true
    ) throws(StateError) {
        for constraint in storage.relationships(of: row.set)?.dependents ?? []
        where constraint.isDetermined(by: changed) {
            let end = Relationship(name: constraint.relationship, isForward: constraint.dependentIsFirst)
            if decided.contains(end) { continue }
            try synchronizeDependent(row, constraint, clearing: clearing)
        }
    }

    /// Updates the link of a constraint from the dependent properties of an entity.
    mutating func synchronizeDependent(
        _ row: EntityRow, _ constraint: RelationshipIndex.Constraint, clearing: Bool
    ) throws(StateError) {
        let current = try lookup.partners(constraint.relationship, of: row.id, isFirst: constraint.dependentIsFirst)
        let principal = try lookup.principal(constraint, of: row, among: current)
        var isLinked = false
        for link in current {
            if lookup.partner(link, of: row.id) == principal {
                isLinked = true
                continue
            }
            if principal == nil, try isKeptUnnamed(link, constraint, row) { continue }
            try unlink(link, clearing: false)
        }
        guard let principal, !isLinked else { return }
        try follow(constraint, unlinked: row.id, principal: principal, clearing: clearing)
    }

    /// Returns whether a link is kept because the key of the new principal is still unknown. A lookup by key cannot
    /// find that principal, so the service's values of the dependent entity, created together with it, do not end the
    /// link.
    private func isKeptUnnamed(
        _ link: LinkRow, _ constraint: RelationshipIndex.Constraint, _ row: EntityRow
    ) throws(StateError) -> Bool {
        guard layer == .base, let principal = try storage.row(lookup.partner(link, of: row.id)) else { return false }
        return constraint.pairs.allSatisfy { (row.values[$0.dependent] ?? .null) != .null }
            && constraint.pairs.contains { (principal.values[$0.principal] ?? .null) == .null }
    }

    /// Links the entities whose dependent properties refer to this one, and copies its values to those already linked.
    mutating func synchronizePrincipal(_ id: EntityID, clearing: Bool = true) throws(StateError) {
        guard let set = try storage.set(of: id), storage.relationships(of: set)?.principals.isEmpty == false
        else { return }
        guard let row = try storage.row(id, reading: .readsKeys) else { return }
        for constraint in index.constraints(ofPrincipalsIn: row.set) {
            for link in try lookup.partners(constraint.relationship, of: id, isFirst: !constraint.dependentIsFirst) {
                try copyPrincipalValues(constraint, from: id, to: lookup.partner(link, of: id))
            }
            var values: [(property: String, value: Value)] = []
            for pair in constraint.pairs {
                guard let value = row.values[pair.principal], value != .null else { break }
                values.append((pair.dependent, value))
            }
            guard values.count == constraint.pairs.count else { continue }
            for dependent in try storage.findRows(set: constraint.dependentSet, where: values) {
                // A principal with at most one dependent keeps its current one.
                if constraint.isDependentSingle,
                    try !lookup.partners(constraint.relationship, of: id, isFirst: !constraint.dependentIsFirst).isEmpty
                {
                    break
                }
                if try lookup.isTaken(dependent, by: constraint, besides: id) { continue }
                try follow(constraint, dependent: dependent, principal: id, clearing: clearing)
            }
        }
    }

    private mutating func follow(
        _ constraint: RelationshipIndex.Constraint, dependent: EntityID, principal: EntityID, clearing: Bool
    ) throws(StateError) {
        let (first, second) = constraint.dependentIsFirst ? (dependent, principal) : (principal, dependent)
        if try storage.link(constraint.relationship, first: first, second: second)?.inLocal == true { return }
        for link in try lookup.partners(constraint.relationship, of: dependent, isFirst: constraint.dependentIsFirst) {
            try unlink(link, clearing: false)
        }
        try follow(constraint, unlinked: dependent, principal: principal, clearing: clearing)
    }

    /// Links a dependent entity that has no principal.
    private mutating func follow(
        _ constraint: RelationshipIndex.Constraint, unlinked dependent: EntityID, principal: EntityID, clearing: Bool
    ) throws(StateError) {
        if constraint.isDependentSingle {
            for link in try lookup.partners(
                constraint.relationship, of: principal, isFirst: !constraint.dependentIsFirst)
            {
                // The principal can have only one dependent: a displaced entity cannot refer to it any more.
                try unlink(link, clearing: clearing)
                if layer == .base, clearing { try markUnread(lookup.partner(link, of: principal)) }
            }
        }
        let (first, second) = constraint.dependentIsFirst ? (dependent, principal) : (principal, dependent)
        try setLink(constraint.relationship, first, second, true)
    }

    /// Marks an entity to be read before it is sent, because its new state is only assumed to be that of the service.
    private mutating func markUnread(_ id: EntityID) throws(StateError) {
        guard var row = try storage.row(id), row.origin == .service else { return }
        row.origin = .serviceWithStaleETag
        try put(row)
    }
}
