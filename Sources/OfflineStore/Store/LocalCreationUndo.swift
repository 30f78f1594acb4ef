import EDM
import Operations
import SyncCore
import Views

/// Deletion of entities that the service has never seen: their creation is undone, and nothing is sent.
struct LocalCreationUndo {
    let core: StoreCore

    /// Undoes the creation of an entity and all operations that concern only it.
    ///
    /// - Returns: Nil if that would differ from a deletion, because the service may have the entity or because changes
    ///   of other entities would be undone too.
    func perform(_ address: EntityAddress) throws(TidelogError) -> IntentResult? {
        let model = try core.model
        let found = try core.dryRun { () throws -> [SequenceNumber]? in
            let root = try core.service?.root
            let id = try AddressResolver(state: core.state, model: model, root: root).entity(address)
            guard try core.state.row(id)?.origin == .local,
                let creation = try self.creation(of: id), creation.isUndoable
            else { return nil }
            return try self.operationsOnly(about: id, creation.sequence)
        }
        guard let undone = found else { return nil }
        let sequence = try core.transaction { () throws -> SequenceNumber in
            let sequence = try core.add(.operationsUndone(undone))
            _ = try core.commit()
            core.planEpoch += 1
            return sequence
        }
        return IntentResult(sequence: sequence)
    }

    private func creation(of id: EntityID) throws(StateError) -> PendingOperation? {
        for sequence in try core.state.pendingOperations(naming: id) {
            guard let pending = try core.state.pendingOperation(sequence) else { continue }
            if pending.operation.createdEntities.contains(id) { return pending }
        }
        return nil
    }

    /// Returns the operations that an undo of the creation includes, or nil if other entities would differ from the
    /// state after a delete. It tries both, so it has to run in a transaction that is rolled back.
    private func operationsOnly(about id: EntityID, _ creation: SequenceNumber) throws -> [SequenceNumber]? {
        let report: UndoReport
        do {
            report = try UndoPlanner(in: core).report(on: .operations([creation]), &core.fold)
        } catch is OperationRefused {
            return nil
        }
        try core.finishRebase()
        let operations = try report.undone.compactMap { try core.state.pendingOperation($0)?.operation }
        let others = Set(operations.flatMap(\.touchedEntities)).subtracting([id])
        let delete = try core.add(.operation(Operation(.delete(id))))
        try core.finishRebase()
        let deleted = try others.map { try standing(of: $0) }
        let deletedLinks = try changedLinks(except: id)
        try core.add(.operationsUndone(report.undone + [delete]))
        try core.finishRebase()
        // If a dependent property defines the link, the operations do not refer to the displaced partner.
        guard try changedLinks(except: id) == deletedLinks else { return nil }
        return try others.map { try standing(of: $0) } == deleted ? report.undone : nil
    }

    /// Returns the links that pending operations created or removed, except the entity's own.
    private func changedLinks(except id: EntityID) throws -> Set<LinkRow> {
        Set(try core.state.changedLinks().filter { $0.first != id && $0.second != id && $0.inBase != $0.inLocal })
    }

    /// Returns a description of an entity and its links, or an empty one if it does not exist. Unset and null are
    /// equivalent: a dependent property without a principal is null, even if it was never set.
    private func standing(of id: EntityID) throws -> [String] {
        guard let row = try core.state.row(id) else { return [] }
        let values = row.values.filter { $0.value != .null }.map { "\($0.name)=\($0.value)" }
        let links = try core.state.links(of: id).filter(\.inLocal).map { "\($0.relationship) \($0.first) \($0.second)" }
        return ["\(row.type) \(row.origin)"] + values.sorted() + links.sorted()
    }
}
