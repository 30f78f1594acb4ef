import EDM
public import Operations

/// An end with multiplicity 1 is never empty: looked at when an operation, or a whole change set, has been folded, since
/// inside a change set only the end state has to be legal.
public struct CardinalityRule<Storage: StateStorage> {
    private let storage: Storage
    private let index: RelationshipIndex

    public init(storage: Storage, index: RelationshipIndex) {
        self.storage = storage
        self.index = index
    }

    /// - Parameter touched: what the operations changed, created or unlinked; see ``Fold/takeTouched()``.
    public func check(_ touched: Set<EntityID>) throws(ValidationError) {
        let violation: OperationRefused?
        do throws(StateError) { violation = try firstViolation(among: touched) } catch { throw .state(error) }
        if let violation { throw .refused(violation) }
    }

    private func firstViolation(among touched: Set<EntityID>) throws(StateError) -> OperationRefused? {
        for id in touched.sorted() {
            guard let row = try storage.row(id) else { continue }
            for end in index.ends(of: row.set) where end.multiplicity == .one {
                if try isViolated(end, row) { return refusal(end, row) }
            }
        }
        return nil
    }

    private func isViolated(_ end: RelationshipIndex.End, _ row: EntityRow) throws(StateError) -> Bool {
        let links =
            end.isFirst
            ? try storage.links(end.relationship, first: row.id) : try storage.links(end.relationship, second: row.id)
        if links.contains(where: \.inLocal) { return false }
        if row.origin == .local { return !namesPartner(row, end) }
        // The partner may be outside the defining queries: then there never was a link here, and only the dependent
        // properties tell.
        if links.contains(where: \.inBase) { return !namesPartner(row, end) }
        guard case .row(let before)? = try storage.base(row.id) else { return false }
        return namesPartner(before, end) && !namesPartner(row, end)
    }

    /// Whether the dependent properties of the entity name a partner, which need not be in the store.
    private func namesPartner(_ row: EntityRow, _ end: RelationshipIndex.End) -> Bool {
        guard let constraint = index.constraint(end.relationship, dependentSet: row.set),
            constraint.dependentIsFirst == end.isFirst
        else { return false }
        return constraint.pairs.allSatisfy { (row.values[$0.dependent] ?? .null) != .null }
    }

    private func refusal(_ end: RelationshipIndex.End, _ row: EntityRow) -> OperationRefused {
        OperationRefused(
            .mandatoryEnd,
            "\(row.set)(\(row.id)) would be without the one entity that it must have by \(end.name), whose multiplicity is 1.",
            recovery: row.origin == .local
                ? "Create it together with its partner: bind it, create it through the partner's navigation property, or put both into one change set."
                : "In the same change set, link it to another partner or delete it as well.")
    }
}
