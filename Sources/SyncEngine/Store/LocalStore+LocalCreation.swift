import EDM
import Operations
import SyncCore
import Views

/// Deleting an entity that no service has seen: its creation is undone, and nothing is sent.
extension LocalStore {
    /// Undoes the creation of the entity and all that is only about it. Nil where that would not come to the same as deleting
    /// it: where the service may have it, or where something of other entities would go as well.
    func undoneCreation(_ address: EntityAddress) throws(TidelogError) -> IntentResult? {
        let model = try model
        let found = try rehearsal { () throws -> [SequenceNumber]? in
            let root = try self.service?.root
            let id = try AddressResolver(state: self.state, model: model, root: root).entity(address)
            guard try self.state.row(id)?.origin == .local,
                let creation = try self.creation(of: id), creation.isUndoable
            else { return nil }
            return try self.operationsOnly(about: id, creation.sequence)
        }
        guard let undone = found else { return nil }
        let sequence = try transaction { () throws -> SequenceNumber in
            let sequence = try self.add(.operationsUndone(undone))
            _ = try self.commit()
            self.rearrangements += 1
            return sequence
        }
        return IntentResult(sequence: sequence)
    }

    private func creation(of id: EntityID) throws(StateError) -> PendingOperation? {
        for sequence in try state.pendingOperations(naming: id) {
            guard let pending = try state.pendingOperation(sequence) else { continue }
            if pending.operation.createdEntities.contains(id) { return pending }
        }
        return nil
    }

    /// What an undo of the creation takes back; nil where the other entities would not be as after a delete. To be rehearsed:
    /// both are tried.
    private func operationsOnly(about id: EntityID, _ creation: SequenceNumber) throws -> [SequenceNumber]? {
        let report: UndoReport
        do {
            report = try self.report(on: .operations([creation]))
        } catch is OperationRefused {
            return nil
        }
        try settle()
        let operations = try report.undone.compactMap { try state.pendingOperation($0)?.operation }
        let others = Set(operations.flatMap(\.touchedEntities)).subtracting([id])
        let delete = try add(.operation(Operation(.delete(id))))
        try settle()
        let deleted = try others.map { try standing(of: $0) }
        let deletedLinks = try changedLinks(except: id)
        try add(.operationsUndone(report.undone + [delete]))
        try settle()
        // Whom the new entity pushed out of a link, its operations do not name where a dependent property says the link.
        guard try changedLinks(except: id) == deletedLinks else { return nil }
        return try others.map { try standing(of: $0) } == deleted ? report.undone : nil
    }

    /// Where the pending operations put links or took them away, the entity's own aside.
    private func changedLinks(except id: EntityID) throws -> Set<LinkRow> {
        Set(try state.changedLinks().filter { $0.first != id && $0.second != id && $0.inBase != $0.inLocal })
    }

    /// What an entity is and whom it is linked to; nothing where it is not there. Unset and null are one here: a dependent
    /// property whose principal is gone is null, and was perhaps never set.
    private func standing(of id: EntityID) throws -> [String] {
        guard let row = try state.row(id) else { return [] }
        let values = row.values.filter { $0.value != .null }.map { "\($0.name)=\($0.value)" }
        let links = try state.links(of: id).filter(\.inLocal).map { "\($0.relationship) \($0.first) \($0.second)" }
        return ["\(row.type) \(row.origin)"] + values.sorted() + links.sorted()
    }
}
