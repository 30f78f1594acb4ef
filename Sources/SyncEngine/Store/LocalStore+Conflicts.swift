import EDM
public import Operations
public import SyncCore
import Views

/// Entities that other clients changed while local operations on them are pending.
extension LocalStore {
    /// Returns all undecided conflicts, by entity, including those that the policy of the next upload will resolve.
    public func conflicts() throws(TidelogError) -> [Conflict] {
        guard let finder = try conflictFinder() else { return [] }
        return try read { _ in try finder.conflicts() }
    }

    /// Returns the conflict on the entity at an address, or nil if there is none.
    public func conflict(on address: EntityAddress) throws(TidelogError) -> Conflict? {
        let model = try model
        let id = try read {
            try AddressResolver(state: $0, model: model, root: $0.header().service?.root).entity(address)
        }
        return try conflict(on: id)
    }

    func conflict(on id: EntityID) throws(TidelogError) -> Conflict? {
        guard let finder = try conflictFinder() else { return nil }
        return try read { _ in try finder.conflict(on: id) }
    }

    /// Resolves a conflict. The decision is logged; values that differ from both sides become an additional update.
    ///
    /// - Parameter conflict: The conflict on which the decision is based.
    /// - Throws: `refused(.notResolvable)` if the conflict has changed since, or if the operations cannot be kept, for
    ///   example because another client deleted the entity. Then nothing is logged.
    @discardableResult
    public func resolve(
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
    func logResolution(
        _ conflict: Conflict, _ resolution: ConflictResolution, _ decision: ConflictResolved.Decision
    ) async throws(TidelogError) -> ConflictResolved? {
        guard let finder = try conflictFinder() else { return nil }
        let resolved = try transaction { () throws -> ConflictResolved? in
            guard try finder.conflict(on: conflict.entity) == conflict else { return nil }
            let pending = try conflict.operations.compactMap { try self.state.pendingOperation($0) }
            guard var outcome = conflict.outcome(resolution, decision, pending: pending) else { return nil }
            if !outcome.record.takenBack.isEmpty {
                // Including operations that could not have been made without them.
                outcome.record.takenBack = try self.report(on: .operations(outcome.record.takenBack)).undone
                let taken = Set(outcome.record.takenBack)
                outcome.record.dropped.removeAll { taken.contains($0.operation) }
                outcome.record.released.removeAll { taken.contains($0) }
            }
            try self.add(.conflictResolved(outcome.record))
            if !outcome.merged.isEmpty {
                try self.finishRebase()
                let operation = Operation(
                    .update(conflict.entity, changes: outcome.merged, bindings: []),
                    baseETag: try self.state.row(conflict.entity)?.etag)
                try OperationRules(storage: self.state, model: try self.model).check(operation)
                try self.add(.operation(operation))
            }
            _ = try self.commit()
            self.planEpoch += 1
            return outcome.record
        }
        try await acknowledge()
        return resolved
    }

    // MARK: For the round

    func mayHaveConflicts() throws(TidelogError) -> Bool { try read { try $0.bookkeeping.hasMergeBases() } }

    /// Returns the entity that an operation updates, deletes or links, and the to-one navigation properties that it
    /// sets. Nil for other operations.
    ///
    /// - Parameter isThere: Whether the service has the entity. Deleting a missing entity is no conflict.
    func changedEntity(
        of operation: SequenceNumber, isThere: Bool
    ) throws(TidelogError) -> (entity: EntityID, links: [String])? {
        let model = try model
        return try read { state throws -> (entity: EntityID, links: [String])? in
            guard let pending = try state.pendingOperation(operation)?.operation else { return nil }
            if let call = pending.call { return call.boundEntity.map { ($0, []) } }
            let resolver = EntityResolver(storage: state, model: model)
            func single(_ entity: EntityID, _ names: [String]) throws -> [String] {
                try names.filter { try resolver.navigation($0, of: entity, in: pending)?.isCollection == false }
            }
            switch pending.action {
            case .update(let entity, _, let bindings): return (entity, try single(entity, bindings.map(\.navigation)))
            case .delete(let entity): return isThere ? (entity, []) : nil
            case .createLink(let link), .updateLink(let link), .deleteLink(let link):
                let links = try single(link.from, [link.navigation])
                return links.isEmpty ? nil : (link.from, links)
            case .create: return nil
            }
        }
    }

    func baseETag(of id: EntityID) throws(TidelogError) -> String? {
        let model = try model
        return try read { try EntityResolver(storage: $0, model: model).serviceRow(id)?.etag }
    }

    func isOnService(_ id: EntityID) throws(TidelogError) -> Bool {
        let model = try model
        return try read { try EntityResolver(storage: $0, model: model).serviceRow(id)?.origin.isOnService ?? false }
    }

    private func conflictFinder() throws(TidelogError) -> ConflictFinder<WorkingSet>? {
        guard try mayHaveConflicts(), let index = fold.index else { return nil }
        return ConflictFinder(storage: state, model: try model, index: index)
    }
}
