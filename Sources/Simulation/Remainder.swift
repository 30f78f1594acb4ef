import EDM
import Operations
import SyncCore
import SyncEngine

/// What is pending on a device, and what the next upload would do about it.
struct Remainder {
    let pending: [PendingOperation]
    private let held: [SequenceNumber: HoldReason]

    init(_ store: LocalStore) async throws(TidelogError) {
        pending = try await store.pendingOperations()
        // What was put off goes again by itself.
        let deferred = pending.filter { if case .deferred = $0.status { true } else { false } }
        held = pending.isEmpty ? [:] : try await store.plan(retrying: Set(deferred.map(\.sequence))).held
    }

    /// In words; where the next upload would send an operation, there is none.
    var reasons: [SequenceNumber: String] {
        Dictionary(uniqueKeysWithValues: pending.map { ($0.sequence, held[$0.sequence]?.description ?? "no reason") })
    }

    /// Operations that are left though nothing keeps them here. One that waits for another has the other's reason: in the
    /// end there is one about which somebody can do something.
    ///
    /// - Parameter canLackKey: whether nobody could know the key that the service has given this entity.
    func stalled(canLackKey: (EntityID) -> Bool) -> [SequenceNumber] {
        pending.map(\.sequence).filter { !isExplained($0, canLackKey) }
    }

    private func isExplained(_ operation: SequenceNumber, _ canLackKey: (EntityID) -> Bool) -> Bool {
        var current = operation
        var seen: Set<SequenceNumber> = []
        // One that is through, or in the chain already, keeps nobody waiting.
        while pending.contains(where: { $0.sequence == current }), seen.insert(current).inserted {
            switch held[current] {
            case .rejected, .inDoubt, .draft, .localOnly, .conflict, .entityGone, .noLegalPlan: return true
            case .keyUnknown(let entity): return canLackKey(entity)
            // The clock has gone on, what can be read was read, and a batch has room: none of these outlives an upload. The
            // metadata do not change here, nor are there categories or headers.
            case nil, .deferred, .behindDeferred, .needsETag, .needsAllProperties, .batchFull, .notInMetadata,
                .headerNeedsKey, .otherCategory, .behindOtherCategory:
                return false
            case .waitsFor(let other), .behindRejected(let other), .behindInDoubt(let other),
                .behindConflict(let other), .behindDraft(let other), .withOperation(let other):
                current = other
            }
        }
        return false
    }
}
