import Operations
import SyncCore
import SyncEngine

/// Which operations are left on a device, and why the next upload would not send them.
struct Remainder {
    let operations: [SequenceNumber]
    private let held: [SequenceNumber: HoldReason]

    init(_ operations: [SequenceNumber], held: [SequenceNumber: HoldReason]) {
        self.operations = operations
        self.held = held
    }

    init(_ store: LocalStore) async throws(TidelogError) {
        let pending = try await store.pendingOperations()
        // What was put off goes again by itself.
        let deferred = pending.filter { if case .deferred = $0.status { true } else { false } }
        self.init(
            pending.map(\.sequence),
            held: pending.isEmpty ? [:] : try await store.plan(retrying: Set(deferred.map(\.sequence))).held)
    }

    /// In words; where the next upload would send an operation, there is none.
    var reasons: [SequenceNumber: String] {
        Dictionary(uniqueKeysWithValues: operations.map { ($0, held[$0]?.description ?? "no reason") })
    }

    /// Operations that are left though nothing keeps them here. One that waits for another has the other's reason: in the
    /// end there is one about which somebody can do something.
    ///
    /// - Parameter canLackKey: whether nobody could know the key that the service has given this entity.
    func stalled(canLackKey: (EntityID) -> Bool) -> [SequenceNumber] {
        let left = Set(operations)
        return operations.filter { !isExplained($0, left, canLackKey) }
    }

    private func isExplained(
        _ operation: SequenceNumber, _ left: Set<SequenceNumber>, _ canLackKey: (EntityID) -> Bool
    ) -> Bool {
        var current = operation
        var seen: Set<SequenceNumber> = []
        // One that is through keeps nobody waiting, nor does one that waits for this one.
        while left.contains(current), seen.insert(current).inserted {
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
