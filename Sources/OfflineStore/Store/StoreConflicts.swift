import EDM
import OperationLog
package import Operations
package import SyncCore
import Views

/// Entities that other clients changed while local operations on them are pending.
package actor StoreConflicts {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Returns all undecided conflicts, by entity, including those that the policy of the next upload will resolve.
    package func all() throws(TidelogError) -> [Conflict] {
        try ConflictFinder.conflicts(in: core)
    }

    /// Returns the conflict on the entity at an address, or nil if there is none.
    package func conflict(on address: EntityAddress) throws(TidelogError) -> Conflict? {
        let model = try core.model
        let id = try core.read {
            try AddressResolver(state: $0, model: model, root: $0.header().service?.root).entity(address)
        }
        return try conflict(on: id)
    }

    package func conflict(on id: EntityID) throws(TidelogError) -> Conflict? {
        guard let finder = try ConflictFinder(of: core) else { return nil }
        return try core.read { _ in try finder.conflict(on: id) }
    }

    /// Resolves a conflict. The decision is logged; values that differ from both sides become an additional update.
    ///
    /// - Parameter conflict: The conflict on which the decision is based.
    /// - Throws: `refused(.notResolvable)` if the conflict has changed since, or if the operations cannot be kept, for
    ///   example because another client deleted the entity. Then nothing is logged.
    @discardableResult
    package func resolve(
        _ conflict: Conflict, with resolution: ConflictResolution
    ) async throws(TidelogError) -> ConflictResolved {
        guard let resolved = try await logResolution(conflict, resolution, .call) else {
            guard conflict.kind == .deletedByOthers else {
                throw Self.notResolvable(conflict, "It changed since it was read.")
            }
            throw TidelogError(
                OperationRefused(
                    .notResolvable, "\(conflict.name) no longer exists at the service, so it cannot be changed.",
                    recovery:
                        "Choose theirs, which undoes the pending operations on it, and create the entity again if it is needed."
                ))
        }
        return resolved
    }

    private static func notResolvable(_ conflict: Conflict, _ why: String) -> TidelogError {
        TidelogError(
            OperationRefused(
                .notResolvable, "The conflict on \(conflict.name) cannot be resolved. \(why)",
                recovery: "Read the conflicts again."))
    }

    /// Logs a decision. Returns nil if the conflict has changed since, or cannot be resolved in this way.
    package func logResolution(
        _ conflict: Conflict, _ resolution: ConflictResolution, _ decision: ConflictResolved.Decision
    ) async throws(TidelogError) -> ConflictResolved? {
        guard let finder = try ConflictFinder(of: core) else { return nil }
        let resolved = try core.transaction { () throws -> ConflictResolved? in
            guard try finder.conflict(on: conflict.entity) == conflict else { return nil }
            let pending = try conflict.operations.compactMap { try core.state.pendingOperation($0) }
            guard var outcome = conflict.outcome(resolution, decision, pending: pending) else { return nil }
            if !outcome.record.takenBack.isEmpty {
                // Including operations that could not have been made without them.
                outcome.record.takenBack = try UndoPlanner(in: core).report(
                    on: .operations(outcome.record.takenBack), &core.fold
                ).undone
                let taken = Set(outcome.record.takenBack)
                outcome.record.dropped.removeAll { taken.contains($0.operation) }
                outcome.record.released.removeAll { taken.contains($0) }
            }
            try core.add(.conflictResolved(outcome.record))
            if !outcome.merged.isEmpty {
                try core.finishRebase()
                let operation = Operation(
                    .update(conflict.entity, changes: outcome.merged, bindings: []),
                    baseETag: try core.state.row(conflict.entity)?.etag)
                try OperationRules(storage: core.state, model: try core.model).check(operation)
                try core.add(.operation(operation))
            }
            _ = try core.commit()
            core.planEpoch += 1
            return outcome.record
        }
        try await core.acknowledge()
        return resolved
    }

    // MARK: For the round

    package func mayHaveConflicts() throws(TidelogError) -> Bool {
        try core.read { try $0.bookkeeping.hasMergeBases() }
    }

    /// Returns the entity that an operation updates, deletes or links, the to-one navigation properties that it sets, and
    /// whether it writes a stream with an ETag of its own. Nil for other operations.
    ///
    /// - Parameter isThere: Whether the service has the entity. Deleting a missing entity is no conflict.
    package func changedEntity(
        of operation: SequenceNumber, isThere: Bool
    ) throws(TidelogError) -> ChangedEntity? {
        let model = try core.model
        return try core.read { state throws -> ChangedEntity? in
            guard let pending = try state.pendingOperation(operation)?.operation else { return nil }
            if let call = pending.call { return call.boundEntity.map { ($0, [], false) } }
            let resolver = EntityResolver(storage: state, model: model)
            func single(_ entity: EntityID, _ names: [String]) throws -> [String] {
                try names.filter { try resolver.navigation($0, of: entity, in: pending)?.isCollection == false }
            }
            switch pending.action {
            case .update(let entity, _, let bindings):
                let hasOwnETag = pending.stream != nil && !model.version.isLegacy
                return (entity, try single(entity, bindings.map(\.navigation)), hasOwnETag)
            case .delete(let entity): return isThere ? (entity, [], false) : nil
            case .createLink(let link), .updateLink(let link), .deleteLink(let link):
                let links = try single(link.from, [link.navigation])
                return links.isEmpty ? nil : (link.from, links, false)
            case .create: return nil
            }
        }
    }

    package typealias ChangedEntity = (entity: EntityID, links: [String], hasOwnETag: Bool)
}

extension ConflictFinder<WorkingSet> {
    /// Returns a finder for the current state, or nil if there are no conflicts.
    init?(of core: StoreCore) throws(TidelogError) {
        guard try core.read({ try $0.bookkeeping.hasMergeBases() }), let index = core.fold.index else { return nil }
        self.init(storage: core.state, model: try core.model, index: index)
    }

    /// Returns all undecided conflicts of a store, by entity.
    static func conflicts(in core: StoreCore) throws(TidelogError) -> [Conflict] {
        guard let finder = try ConflictFinder(of: core) else { return [] }
        return try core.read { _ in try finder.conflicts() }
    }
}
