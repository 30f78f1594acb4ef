import EDM
import Operations

/// The rule that an end with multiplicity 1 is never empty.
///
/// It is checked after an operation or a whole change set was folded, because inside a change set only the final state
/// has to be legal.
package struct CardinalityRule {
    private let storage: WorkingSet
    private let index: RelationshipIndex

    package init(storage: WorkingSet, index: RelationshipIndex) {
        self.storage = storage
        self.index = index
    }

    /// Checks the entities that operations changed.
    ///
    /// - Parameter touched: The dirty set; see ``Fold/drainDirtySet()``.
    /// - Throws: `refused` if an end would be empty.
    package func check(_ touched: DirtySet) throws(ValidationError) {
        guard index.model.hasMandatoryEnds else { return }
        var refusal = CardinalityRefusal()
        do throws(StateError) {
            for id in touched.entities.sorted() {
                guard let row = try storage.row(id) else { continue }
                for end in index.ends(of: row.set) where end.multiplicity == .one {
                    guard try isViolated(end, row) else { continue }
                    refusal.add(
                        try storage.name(of: id, index.model), at: end, because: try cause(end, row, touched.unlinked))
                }
            }
        } catch {
            throw .state(error)
        }
        if let refused = refusal.refused { throw .refused(refused) }
    }

    private func isViolated(_ end: RelationshipIndex.End, _ row: EntityRow) throws(StateError) -> Bool {
        let links = try links(end, row.id)
        if links.contains(where: \.inLocal) { return false }
        if row.origin == .local { return !namesPartner(row, end) }
        // The partner may be outside the defining queries. Then there was never a link here, and only the dependent
        // properties show it.
        if links.contains(where: \.inBase) { return !namesPartner(row, end) }
        guard case .row(let before)? = try storage.base(row.id) else { return false }
        return namesPartner(before, end) && !namesPartner(row, end)
    }

    private func links(_ end: RelationshipIndex.End, _ id: EntityID) throws(StateError) -> [LinkRow] {
        end.isFirst
            ? try storage.links(end.relationship, first: id) : try storage.links(end.relationship, second: id)
    }

    /// Returns whether the dependent properties of the entity refer to a partner, which need not be in the store.
    private func namesPartner(_ row: EntityRow, _ end: RelationshipIndex.End) -> Bool {
        guard let constraint = index.constraint(end.relationship, dependentSet: row.set),
            constraint.dependentIsFirst == end.isFirst
        else { return false }
        return constraint.pairs.allSatisfy { (row.values[$0.dependent] ?? .null) != .null }
    }

    /// Returns the effect of the operations on the entity's previous partner.
    private func cause(
        _ end: RelationshipIndex.End, _ row: EntityRow, _ unlinked: Set<DirtySet.LinkEnds>
    ) throws(StateError) -> CardinalityRefusal.Cause {
        let lost = unlinked.lazy.filter {
            $0.relationship == end.relationship && (end.isFirst ? $0.first : $0.second) == row.id
        }.map { end.isFirst ? $0.second : $0.first }
        guard let partner = lost.min() else { return row.origin == .local ? .isNew : .unlinked(nil) }
        let name = try storage.name(of: partner, index.model)
        guard try storage.row(partner) != nil else { return .deleted(name) }
        guard end.partnerMultiplicity != .many else { return .unlinked(name) }
        let others =
            end.isFirst
            ? try storage.links(end.relationship, second: partner) : try storage.links(end.relationship, first: partner)
        guard let other = others.first(where: \.inLocal) else { return .unlinked(name) }
        return .pushedOut(
            of: name, by: try storage.name(of: end.isFirst ? other.first : other.second, index.model))
    }
}
