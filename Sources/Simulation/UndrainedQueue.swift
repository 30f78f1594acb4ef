import OfflineStore
import Operations
import SyncCore

/// The operations that remain on a device, and the reasons why the next upload would not send them.
struct UndrainedQueue {
    let operations: [SequenceNumber]
    private let held: [SequenceNumber: HoldReason]

    init(_ operations: [SequenceNumber], held: [SequenceNumber: HoldReason]) {
        self.operations = operations
        self.held = held
    }

    init(_ store: LocalStore) async throws(TidelogError) {
        let pending = try await store.queue.pendingOperations()
        // Deferred operations are retried automatically.
        let deferred = pending.filter { if case .deferred = $0.status { true } else { false } }
        self.init(
            pending.map(\.sequence),
            held: pending.isEmpty ? [:] : try await store.uploads.plan(retrying: Set(deferred.map(\.sequence))).held)
    }

    /// The reasons as text. An operation that the next upload would send has no reason.
    var reasons: [SequenceNumber: String] {
        Dictionary(uniqueKeysWithValues: operations.map { ($0, held[$0]?.description ?? "no reason") })
    }

    /// Returns the operations that remain without a valid reason.
    ///
    /// An operation that waits for a different one has the reason of that operation. The chain must end with a reason
    /// that the user or the app can resolve.
    ///
    /// - Parameter canLackKey: Returns whether the device cannot determine the key that the service has generated for
    ///   the entity.
    func stalled(canLackKey: (EntityID) -> Bool) -> [SequenceNumber] {
        let left = Set(operations)
        return operations.filter { !isExplained($0, left, canLackKey) }
    }

    private func isExplained(
        _ operation: SequenceNumber, _ left: Set<SequenceNumber>, _ canLackKey: (EntityID) -> Bool
    ) -> Bool {
        var current = operation
        var seen: Set<SequenceNumber> = []
        // A completed operation blocks no other operation, and neither does one that waits for this one.
        while left.contains(current), seen.insert(current).inserted {
            switch held[current] {
            case .rejected, .inDoubt, .draft, .localOnly, .conflict, .entityGone, .noLegalPlan: return true
            case .keyUnknown(let entity): return canLackKey(entity)
            // Time has passed, readable entities were read, and batches have space: none of these reasons persists
            // after an upload. The metadata does not change in the simulation, and it uses neither categories nor
            // headers here.
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
