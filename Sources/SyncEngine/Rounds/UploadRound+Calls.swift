import EDM
import ODataWire
import Operations
import SyncCore

/// Reads after calls of actions.
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
}
