import EDM
import Operations

/// Which operations wait for the decision in a conflict. Cost: nothing where nobody else changed what is pending here.
struct ConflictHolds<Storage: StateStorage> {
    /// Nil where there is no conflict.
    private let finder: ConflictFinder<Storage>?

    init(_ storage: Storage, _ model: EntityDataModel) throws(StateError) {
        finder =
            try storage.hasAncestors()
            ? ConflictFinder(storage: storage, model: model, index: RelationshipIndex(model)) : nil
    }

    func reasons(in unit: [PendingOperation]) throws(StateError) -> [SequenceNumber: HoldReason] {
        guard let finder else { return [:] }
        var reasons: [SequenceNumber: HoldReason] = [:]
        for pending in unit {
            for id in Set(pending.operation.referencedEntities).sorted() where pending.operation.changes(id) {
                guard let conflict = try finder.conflict(on: id), conflict.operations.contains(pending.sequence) else {
                    continue
                }
                reasons[pending.sequence] = .conflict(id)
                break
            }
        }
        return reasons
    }
}
