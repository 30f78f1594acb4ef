import Operations
import SyncCore

/// Reading the keys of entities that the service has created without returning their keys. Entities that link to them
/// may reveal the keys.
extension UploadRound {
    /// Reads the entities linked to those whose keys are awaited, each once per upload. Returns whether a key was
    /// found.
    @_optimize(none)
    func readNeighborKeys(
        _ reasons: some Sequence<HoldReason>, _ state: inout UploadState
    ) async throws(TidelogError) -> Bool {
        let awaited = Set(reasons.compactMap { if case .keyUnknown(let id) = $0 { id } else { nil } })
        var hasFound = false
        for id in awaited.subtracting(state.sought).sorted() {
            state.sought.insert(id)
            for owner in try await store.partners(of: id) where state.sought.insert(owner).inserted {
                // A previous read may already have returned this key.
                guard try await store.serviceReference(id) == nil, try await store.serviceReference(owner) != nil
                else { continue }
                let missing = try await store.navigationsToKeylessEntities(of: owner)
                if !missing.isEmpty { try await readEntity(owner, expand: missing) }
            }
            if try await store.serviceReference(id) != nil { hasFound = true }
        }
        return hasFound
    }
}
