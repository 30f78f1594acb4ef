import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Determines by reading whether deletions in doubt took effect, if other operations on their entities or keys are
/// pending.
///
/// These deletions cannot simply be sent again:
///
/// - The deletion waits for earlier operations on the entity. If the entity does not exist any more, the service
///   rejects these operations.
/// - If another entity with the same key was created after the deletion, a repeated deletion would delete the new
///   entity.
///
/// If no other operations are pending, the deletion is sent again, because it is idempotent, unless operations on other
/// entities hold it back; see ``confirmHeld(among:)``.
struct DeletionLookup {
    let store: LocalStore
    let session: ServiceSession
    /// The policy that replaces the store's policy for all sets, if there is one.
    let policy: ServiceOptions.DoubtPolicy?
    /// Operations that the service is still processing.
    let busy: Set<SequenceNumber>

    struct Findings {
        /// The operations that were confirmed.
        var ended: [SequenceNumber] = []
        /// The entities that the service does not have any more.
        var removed: Set<EntityID> = []
        /// The deletions that must not be sent again before a doubt about a creation is resolved.
        var withheld: Set<SequenceNumber> = []
        /// The former values of deleted entities, by the creation that uses the key again.
        var former: [SequenceNumber: PropertyValues] = [:]
    }

    /// Confirms the deletions whose entities no longer exist, regardless of the client that deleted them, and the
    /// earlier operations that the deletions make void.
    func run() async throws(TidelogError) -> Findings {
        var findings = Findings()
        findings.ended = try await DeletionRecords.endVoidDoubts(in: store, besides: busy)
        for found in try await DeletionRecords.doubtfulDeletions(in: store, besides: busy) {
            let open = found.superseded.filter { !findings.ended.contains($0.sequence) }
            guard !findings.ended.contains(found.deletion.sequence), try await isGone(found.entity) else { continue }
            try await DeletionRecords.confirm(
                found.deletion, of: found.entity, superseding: open, in: store)
            findings.ended += open.map(\.sequence) + [found.deletion.sequence]
            findings.removed.formUnion(found.removed)
        }
        try await resolveReplaced(&findings)
        return findings
    }

    /// Confirms the deletions after which the service has created another entity with the same key. They are confirmed
    /// before the creation, so that the new entity gets the key.
    private func resolveReplaced(_ findings: inout Findings) async throws(TidelogError) {
        for found in try await DeletionRecords.replacedDeletions(in: store)
        where !busy.contains(found.deletion.sequence) {
            guard case .inDoubt = found.creation.status else { continue }
            findings.former[found.creation.sequence] = found.former
            guard !busy.contains(found.creation.sequence) else {
                findings.withheld.insert(found.deletion.sequence)
                continue
            }
            let resolver = InDoubtResolver(store: store, session: session, policy: policy, former: findings.former)
            switch try await resolver.finding(found.creation) {
            case .tookEffect:
                try await DeletionRecords.confirm(
                    found.deletion, of: found.deletion.operation.subject, superseding: [], in: store)
                findings.ended.append(found.deletion.sequence)
            case .mayBeSentAgain, .mayBeDoneTwice: break
            case .unknown: findings.withheld.insert(found.deletion.sequence)
            }
        }
    }

    /// Confirms deletions of nonexistent entities that are held back by earlier operations.
    ///
    /// An example of such an operation is a call in doubt of an entity that was linked to the deleted one. Only one
    /// batch is planned, not the whole queue: the deletions were in an earlier batch, so they are at the beginning of
    /// the queue.
    ///
    /// - Parameter released: The operations that can be sent again.
    /// - Returns: The confirmed deletions.
    func confirmHeld(among released: Set<SequenceNumber>) async throws(TidelogError) -> [SequenceNumber] {
        var deletions: [(pending: PendingOperation, entity: EntityID)] = []
        for pending in try await store.queue.pendingOperations(released.sorted()) where pending.operation.call == nil {
            guard case .inDoubt = pending.status, case .delete(let entity) = pending.operation.action else { continue }
            deletions.append((pending, entity))
        }
        guard !deletions.isEmpty else { return [] }
        let plan = try await store.uploads.plan(retrying: released, reach: .batch)
        var ended: [SequenceNumber] = []
        for (pending, entity) in deletions where plan.holdsBack(pending.sequence) {
            guard try await isGone(entity) else { continue }
            try await DeletionRecords.confirm(pending, of: entity, superseding: [], in: store)
            ended.append(pending.sequence)
        }
        return ended
    }

    /// Returns whether the service no longer has the entity. Returns false if the entity cannot be read.
    private func isGone(_ entity: EntityID) async throws(TidelogError) -> Bool {
        guard let (reference, set) = try await store.references.serviceReference(entity) else { return false }
        do throws(TidelogError) {
            return try await EntityReader(store: store, session: session).read(reference, set) == nil
        } catch {
            guard error.isLastingAnswer || error.isOfReading else { throw error }
            return false
        }
    }
}
