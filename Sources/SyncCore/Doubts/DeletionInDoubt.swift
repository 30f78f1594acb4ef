import EDM
package import Operations

/// A deletion in doubt, with the earlier pending operations that cannot succeed any more if it took effect.
///
/// An update and the deletion of its entity can be in one batch. If both took effect and the response was lost, the
/// service rejects the repeated update, and does not process the repeated deletion after it.
package struct DeletionInDoubt: Sendable {
    package let deletion: PendingOperation
    /// The deleted entity.
    package let entity: EntityID
    /// The entity and all entities that the service deletes with it.
    package let removed: Set<EntityID>
    /// The earlier operations that only change, delete or link removed entities, in order. Calls of actions are not
    /// among them, because an action has effects of its own.
    package let superseded: [PendingOperation]
}

extension EntityResolver {
    /// Returns the deletions in doubt before which other operations on the removed entities are pending, in order.
    ///
    /// A deletion whose entity may still be created is omitted: its absence proves nothing.
    ///
    /// - Parameter busy: Operations that the service is still processing.
    package func doubtfulDeletions(besides busy: Set<SequenceNumber>) throws(StateError) -> [DeletionInDoubt] {
        var found: [DeletionInDoubt] = []
        for pending in try storage.pendingOperations(.inDoubt) where !busy.contains(pending.sequence) {
            guard case .delete(let entity) = pending.operation.action, pending.operation.call == nil else { continue }
            if let deletion = try doubtfulDeletion(pending, of: entity, besides: busy) { found.append(deletion) }
        }
        return found
    }

    /// Returns the updates and deletions in doubt of entities that a later operation has deleted at the service.
    package func voidDoubts(besides busy: Set<SequenceNumber>) throws(StateError) -> [PendingOperation] {
        var found: [PendingOperation] = []
        for pending in try storage.pendingOperations(.inDoubt) where !busy.contains(pending.sequence) {
            guard pending.operation.call == nil, pending.operation.stream == nil else { continue }
            switch pending.operation.action {
            case .update(let entity, _, _), .delete(let entity):
                if try isDeleted(entity) { found.append(pending) }
            case .create, .createLink, .updateLink, .deleteLink: continue
            }
        }
        return found
    }

    /// Returns whether an operation of this store, which was confirmed, has deleted the entity.
    ///
    /// Such an entity has no base state. An entity that another client deleted keeps one while operations on it are
    /// pending.
    func isDeleted(_ entity: EntityID) throws(StateError) -> Bool {
        guard try serviceRow(entity) == nil else { return false }
        for sequence in try storage.pendingOperations(naming: entity) {
            let pending = try storage.pendingOperation(sequence)
            if pending?.operation.createdEntities.contains(entity) == true { return false }
        }
        return true
    }

    private func doubtfulDeletion(
        _ deletion: PendingOperation, of entity: EntityID, besides busy: Set<SequenceNumber>
    ) throws(StateError) -> DeletionInDoubt? {
        var removed = Set(try LinkTracker(self).deleted(with: entity))
        var earlier: [SequenceNumber: PendingOperation] = [:]
        var open = removed
        while let id = open.popFirst() {
            for sequence in try storage.pendingOperations(naming: id)
            where sequence < deletion.sequence && earlier[sequence] == nil {
                guard let pending = try storage.pendingOperation(sequence), pending.operation.delivery == .queued else {
                    continue
                }
                earlier[sequence] = pending
                guard try isContained(pending.operation, in: removed) else { continue }
                for created in pending.operation.createdEntities where removed.insert(created).inserted {
                    open.insert(created)
                }
            }
        }
        let operations = earlier.values.sorted { $0.sequence < $1.sequence }
        guard !operations.isEmpty,
            !operations.contains(where: { $0.operation.createdEntities.contains(entity) || $0.isBusy(busy) })
        else { return nil }
        return DeletionInDoubt(
            deletion: deletion, entity: entity, removed: removed,
            superseded: operations.filter { $0.operation.changesOnly(removed) })
    }

    /// Returns whether the operation creates an entity that exists only within a removed one.
    private func isContained(_ operation: Operation, in removed: Set<EntityID>) throws(StateError) -> Bool {
        guard case .create(let creation, let parent?) = operation.action else { return false }
        return removed.contains(parent.entity) && model.findEntitySet(creation.set)?.isContained == true
    }
}

extension PendingOperation {
    /// Whether the service may be processing the operation at the moment.
    fileprivate func isBusy(_ busy: Set<SequenceNumber>) -> Bool {
        if case .inFlight = status { true } else { busy.contains(sequence) }
    }
}

extension Operation {
    /// Whether the operation has no effect if the entities do not exist: it changes, deletes, links or contains one of
    /// them, and no other entity.
    fileprivate func changesOnly(_ removed: Set<EntityID>) -> Bool {
        guard call == nil else { return false }
        return switch action {
        case .create(let creation, _): removed.contains(creation.entity)
        case .update(let entity, _, _), .delete(let entity): removed.contains(entity)
        case .createLink(let link), .updateLink(let link), .deleteLink(let link):
            removed.contains(link.from) || removed.contains(link.to)
        }
    }
}
