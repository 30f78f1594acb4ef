import EDM
import Operations

/// The operations that wait for a conflict decision, cached for one plan during which the state does not change.
/// Without conflicts it costs nothing.
struct ConflictHoldCache<Storage: StateReader> {
    /// Whether there are merge bases, and so perhaps conflicts. A comparison of the finder with nil would copy it.
    private let hasMergeBases: Bool
    /// The finder, or nil if there is no conflict.
    private let finder: ConflictFinder<Storage>?
    /// The operations of the conflict on each examined entity; empty if there is none.
    private var conflicting: [EntityID: Set<SequenceNumber>] = [:]

    init(_ storage: Storage, _ model: EntityDataModel) throws(StateError) {
        hasMergeBases = try storage.bookkeeping.hasMergeBases()
        finder =
            hasMergeBases
            ? ConflictFinder(storage: storage, model: model, index: RelationshipIndex(model)) : nil
    }

    private mutating func operations(inConflictOn id: EntityID) throws(StateError) -> Set<SequenceNumber> {
        if let known = conflicting[id] { return known }
        let found = Set(try finder?.conflict(on: id)?.operations ?? [])
        conflicting[id] = found
        return found
    }

    mutating func reasons(in unit: [PendingOperation]) throws(StateError) -> [SequenceNumber: HoldReason] {
        guard hasMergeBases else { return [:] }
        var reasons: [SequenceNumber: HoldReason] = [:]
        for pending in unit {
            for id in Set(pending.operation.referencedEntities).sorted() where pending.operation.changes(id) {
                guard try operations(inConflictOn: id).contains(pending.sequence) else { continue }
                reasons[pending.sequence] = .conflict(id)
                break
            }
        }
        return reasons
    }
}
