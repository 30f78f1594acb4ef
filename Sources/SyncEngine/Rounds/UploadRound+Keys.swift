import Operations
import SyncCore

/// Entities that the service has, and whose keys nobody has told: they may come with those that they are linked to.
extension UploadRound {
    /// Reads what is linked to the entities whose keys are waited for, each once in an upload. Returns whether a key came.
    @_optimize(none)
    func readBesides(
        _ reasons: some Sequence<HoldReason>, _ course: inout Course
    ) async throws(TidelogError) -> Bool {
        let awaited = Set(reasons.compactMap { if case .keyUnknown(let id) = $0 { id } else { nil } })
        var hasFound = false
        for id in awaited.subtracting(course.sought).sorted() {
            course.sought.insert(id)
            for owner in try await store.partners(of: id) where course.sought.insert(owner).inserted {
                // One that was read before may have brought this one too.
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
