import EDM
import ODataWire
import Operations
import SyncCore

/// Calls of actions: the reads after them, and their doubts.
extension UploadRound {
    /// Reads the bound entities of the confirmed calls whose answers do not contain them, each once. The version of the
    /// service replaces the declared effect.
    ///
    /// A bound entity that the service no longer has is removed from the store: an activated or discarded draft.
    @_optimize(none)
    func readBoundEntities(_ plan: UploadPlan, _ outcomes: [BatchAnswered.Outcome]) async throws(TidelogError) {
        var shown: Set<EntityID> = []
        var confirmed: Set<SequenceNumber> = []
        for outcome in outcomes {
            guard case .confirmed(let images) = outcome.result else { continue }
            confirmed.insert(outcome.operation)
            shown.formUnion(images.map(\.entity))
        }
        var missing: [EntityID] = []
        for request in plan.changeSets.flatMap(\.requests) where confirmed.contains(request.operation) {
            for id in request.called where !shown.contains(id) && !missing.contains(id) { missing.append(id) }
        }
        for id in missing {
            guard try await store.serviceReference(id) != nil else { continue }
            guard try await readEntity(id) == .gone, try await store.isOnService(id) else { continue }
            try await store.record([.entitiesMissing([id])])
        }
    }

    // MARK: Doubts

    /// Returns the operations of a change set that certainly did not take effect, because one of its creates did not.
    ///
    /// Whether a service rolls back is not known, so a call that refers to none of the new entities stays in doubt.
    @_optimize(none)
    func absent(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) -> [PendingOperation] {
        guard members.contains(where: { $0.operation.call != nil }),
            try await store.serviceOptions.changeSetRollback != .trusted
        else { return members }
        let created = Set(members.flatMap(\.operation.createdEntities))
        var absent: [PendingOperation] = []
        for member in members {
            if member.operation.call == nil || !created.isDisjoint(with: member.operation.referencedEntities) {
                absent.append(member)
            } else {
                report.inDoubt.append(member.sequence)
            }
        }
        return absent
    }
}
