import EDM
import Operations

extension OperationRules {
    /// Checks that an operation for the service does not refer to a local-only entity.
    func checkDelivery(_ operation: Operation) throws(ValidationError) {
        guard operation.delivery != .localOnly else { return }
        let hasHeldBack = try read { storage throws(StateError) in try storage.hasHeldBack() }
        guard hasHeldBack || model.hasClientOnly else { return }
        for entity in Set(operation.referencedEntities).sorted() where try isLocalOnly(entity) {
            throw .refused(
                .init(
                    .notAllowed,
                    "\(try name(entity)) exists only in this store, so an operation that refers to it cannot be sent.",
                    recovery: "Make the change local-only too, or create the entity again."))
        }
    }

    private func isLocalOnly(_ entity: EntityID) throws(ValidationError) -> Bool {
        try read { storage throws(StateError) in
            if model.hasClientOnly, let set = try storage.set(of: entity) {
                if model.findEntitySet(set)?.isClientOnly == true { return true }
            }
            guard try storage.row(entity)?.origin == .local else { return false }
            for sequence in try storage.pendingOperations(naming: entity) {
                guard let operation = try storage.pendingOperation(sequence)?.operation,
                    operation.createdEntities.contains(entity)
                else { continue }
                return operation.delivery == .localOnly
            }
            return false
        }
    }
}
