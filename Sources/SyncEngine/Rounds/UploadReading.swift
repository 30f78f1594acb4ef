import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// The reads of an upload: values and keys that no response contained.
struct UploadReading {
    let store: LocalStore
    let session: ServiceSession

    enum Result { case read, gone, unreadable }

    /// Reads an entity. A failure that concerns only this entity does not end the upload.
    @discardableResult
    func read(_ id: EntityID, expand: [String] = []) async throws(TidelogError) -> Result {
        let found: (payload: EntityPayload, set: EntitySet)?
        do throws(TidelogError) {
            found = try await EntityReader(store: store, session: session).read(id, expand: expand)
        } catch {
            guard error.isLastingAnswer else { throw error }
            return .unreadable
        }
        guard let (payload, set) = found else { return .gone }
        try await store.downloads.ingest(payload, of: set, known: id, identifying: !expand.isEmpty)
        return .read
    }

    /// Reads the children of a deep insert with their parent if the response did not contain them.
    func readMissingValues(
        _ batch: UploadedBatch, _ outcomes: [BatchAnswered.Outcome]
    ) async throws(TidelogError) {
        let confirmed = Set(outcomes.filter(\.isConfirmed).map(\.operation))
        var parents: [EntityID] = []
        for changeSet in batch.changeSets {
            for request in changeSet.requests where confirmed.contains(request.operation) {
                if let created = request.creates { parents += created.parents }
            }
        }
        // Several at once, because usually none lacks a key, but not all, because the store waits for the look-up. A
        // read may return the keys below later ones.
        for first in stride(from: 0, to: parents.count, by: Self.parentsAtOnce) {
            let some = Array(parents[first...].prefix(Self.parentsAtOnce))
            let missing = try await store.references.navigationsToKeylessEntities(of: some)
            for id in some where missing[id] != nil { try await readKeys(below: id) }
        }
    }

    /// The number of entities whose missing keys are looked up without interruption.
    private static var parentsAtOnce: Int { 50 }

    /// Reads the bound entities of the confirmed calls whose responses do not contain them, each once. The version of
    /// the service replaces the declared effect.
    ///
    /// A bound entity that the service no longer has is removed from the store: an activated or discarded draft.
    func readBoundEntities(
        _ batch: UploadedBatch, _ outcomes: [BatchAnswered.Outcome]
    ) async throws(TidelogError) {
        var shown: Set<EntityID> = []
        var confirmed: Set<SequenceNumber> = []
        for outcome in outcomes {
            guard case .confirmed(let images) = outcome.result else { continue }
            confirmed.insert(outcome.operation)
            shown.formUnion(images.map(\.entity))
        }
        var missing: [EntityID] = []
        for changeSet in batch.changeSets {
            for request in changeSet.requests where !request.called.isEmpty && confirmed.contains(request.operation) {
                for id in request.called where !shown.contains(id) && !missing.contains(id) { missing.append(id) }
            }
        }
        for id in missing {
            guard try await store.references.serviceReference(id) != nil else { continue }
            guard try await read(id) == .gone, try await store.references.isOnService(id) else { continue }
            try await store.record([.entitiesMissing([id])])
        }
    }

    /// Reads the keys of the entities to which the entity is linked, if some are unknown.
    func readKeys(below id: EntityID) async throws(TidelogError) {
        let missing = try await store.references.navigationsToKeylessEntities(of: [id])[id]
        if let missing { try await read(id, expand: missing) }
    }

    /// Reads the entities linked to those whose keys are awaited, each once per upload. They may reveal the keys of
    /// entities that the service has created without returning their keys. Returns whether a key was found.
    ///
    /// - Parameter sought: The entities that were already read.
    func readNeighborKeys(
        of awaited: Set<EntityID>, _ sought: inout Set<EntityID>
    ) async throws(TidelogError) -> Bool {
        var hasFound = false
        for id in awaited.sorted() {
            sought.insert(id)
            for owner in try await store.references.partners(of: id) where sought.insert(owner).inserted {
                // A previous read may already have returned this key.
                guard try await store.references.serviceReference(id) == nil,
                    try await store.references.serviceReference(owner) != nil
                else { continue }
                try await readKeys(below: owner)
            }
            if try await store.references.serviceReference(id) != nil { hasFound = true }
        }
        return hasFound
    }
}

extension NewEntity {
    /// The entity, and those below it that have children, from the top.
    fileprivate var parents: [EntityID] {
        [id] + below.flatMap { $0.entities.flatMap { $0.below.isEmpty ? [] : $0.parents } }
    }
}
