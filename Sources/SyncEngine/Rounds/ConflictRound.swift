import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// The part of an upload that detects and resolves conflicts.
///
/// It reads the service's version of the entities whose changes the service rejected, and applies the decisions of the
/// policy or of the app's function. Undecided conflicts stay open.
struct ConflictRound {
    let store: LocalStore
    let session: ServiceSession
    let handling: ConflictHandling

    /// The number of times that an operation is sent again after an ETag change or a conflict decision. It bounds the
    /// upload if another client keeps changing the same entity.
    private static let repetitionLimit = 3

    private var repetitions: [SequenceNumber: Int] = [:]
    /// Apparently deleted entities that this round has already read.
    private var looked: Set<EntityID> = []
    /// Conflicts without a decision.
    private var open: [EntityID: Conflict] = [:]

    init(store: LocalStore, session: ServiceSession, handling: ConflictHandling) {
        self.store = store
        self.session = session
        self.handling = handling
    }

    /// Resolves the decidable conflicts before a plan is made.
    ///
    /// - Returns: Whether any conflict was resolved.
    @discardableResult
    mutating func applyPolicy(_ report: inout UploadReport) async throws(TidelogError) -> Bool {
        guard try await store.conflicts.mayHaveConflicts() else { return false }
        for conflict in try await store.conflicts.all() where conflict.kind == .deletedByOthers {
            // The entity may still exist and only have left the defining queries.
            guard looked.insert(conflict.entity).inserted else { continue }
            // If the service does not answer, the conflict stays open instead of being decided on a guess.
            if try await !read(conflict.entity) { open[conflict.entity] = conflict }
        }
        var hasSettled = false
        for conflict in try await store.conflicts.all() where open[conflict.entity] != conflict {
            guard conflict.operations.allSatisfy({ repetitions[$0, default: 0] < Self.repetitionLimit }),
                let (resolution, decision) = await decide(conflict),
                let resolved = try await logResolution(conflict, resolution, decision)
            else {
                open[conflict.entity] = conflict
                continue
            }
            hasSettled = true
            for operation in resolved.released { repetitions[operation, default: 0] += 1 }
            report.reopen(resolved.released + resolved.takenBack)
        }
        return hasSettled
    }

    private func logResolution(
        _ conflict: Conflict, _ resolution: ConflictResolution, _ decision: ConflictResolved.Decision
    ) async throws(TidelogError) -> ConflictResolved? {
        do throws(TidelogError) {
            return try await store.conflicts.logResolution(conflict, resolution, decision)
        } catch {
            // A rule forbids the resolution, for example because a dependent operation is in flight. The remaining
            // operations can still be sent.
            if case .refused = error.code { return nil }
            throw error
        }
    }

    private func decide(
        _ conflict: Conflict
    ) async -> (resolution: ConflictResolution, decision: ConflictResolved.Decision)? {
        if let decided = handling.policy.resolution(of: conflict) { return decided }
        return await handling.decide?(conflict).map { ($0, .app) }
    }

    /// Reads the entities whose changes the service rejected, possibly because of a concurrent change.
    ///
    /// If the read finds no conflict and only the ETag differs, the operations are sent again with the new ETag. A stream
    /// that another client has replaced is not overwritten.
    mutating func readRefused(at outcomes: [BatchAnswered.Outcome], _ report: inout UploadReport)
        async throws(TidelogError)
    {
        var refused: [EntityID: (operations: [SequenceNumber], links: Set<String>)] = [:]
        for outcome in outcomes {
            guard case .rejected(let refusal) = outcome.result, refusal.mayBeConflict,
                let changed = try await store.conflicts.changedEntity(
                    of: outcome.operation, isThere: ![404, 410].contains(refusal.status))
            else { continue }
            refused[changed.entity, default: ([], [])].links.formUnion(changed.links)
            // With the ETag of another client's stream, the operation would overwrite that stream.
            if refusal.status == 412, changed.hasOwnETag { continue }
            refused[changed.entity]?.operations.append(outcome.operation)
        }
        for (entity, (operations, links)) in refused.sorted(by: { $0.key < $1.key }) {
            let before = try await store.references.baseETag(of: entity)
            guard try await read(entity, expand: links.sorted()) else { continue }
            let again = operations.filter { repetitions[$0, default: 0] < Self.repetitionLimit }
            guard !again.isEmpty, let now = try await store.references.baseETag(of: entity), now != before,
                try await store.conflicts.conflict(on: entity) == nil
            else { continue }
            for operation in again { repetitions[operation, default: 0] += 1 }
            try await store.doubts.release(again)
            report.reopen(again)
        }
    }

    /// Reads an entity and ingests the result.
    ///
    /// - Parameter links: Navigation properties to expand, if the service allows it.
    /// - Returns: False if the service does not allow the entity to be read. Other operations can still be sent.
    private func read(_ id: EntityID, expand links: [String] = []) async throws(TidelogError) -> Bool {
        guard try await store.references.serviceReference(id) != nil else { return true }
        let found: (payload: EntityPayload, set: EntitySet)?
        do throws(TidelogError) {
            found = try await EntityReader(store: store, session: session).read(id, expand: links)
        } catch {
            guard error.isLastingAnswer else { throw error }
            return links.isEmpty ? false : try await read(id)
        }
        if let (payload, set) = found {
            try await store.downloads.ingest(payload, of: set, known: id)
        } else if try await store.references.isOnService(id) {
            try await store.record([.entitiesMissing([id])])
        }
        return true
    }
}
