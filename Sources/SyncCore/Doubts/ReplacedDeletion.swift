package import EDM
import Operations

/// A deletion in doubt, followed by the creation of another entity with the same key.
///
/// Both can be in one batch. If both took effect, a repeated deletion would delete the new entity.
package struct ReplacedDeletion: Sendable {
    package let deletion: PendingOperation
    package let creation: PendingOperation
    /// The values of the deleted entity, as the service last returned them.
    package let former: PropertyValues
}

extension EntityResolver {
    /// Returns the deletions in doubt that precede a creation with the same key, in order.
    package func replacedDeletions() throws(StateError) -> [ReplacedDeletion] {
        let deletions = try storage.pendingOperations(.inDoubt).filter { pending in
            if case .delete = pending.operation.action { pending.operation.call == nil } else { false }
        }
        guard !deletions.isEmpty else { return [] }
        var creations: [ExactText: [PendingOperation]] = [:]
        for pending in try storage.pendingOperations() {
            guard case .create(let creation, let parent) = pending.operation.action,
                let key = creation.keyText(in: parent?.entity, model)
            else { continue }
            creations[ExactText("\(creation.set)(\(key))"), default: []].append(pending)
        }
        var found: [ReplacedDeletion] = []
        for deletion in deletions {
            guard let row = try serviceRow(deletion.operation.subject), let set = model.findEntitySet(row.set),
                let type = model.findEntityType(row.type),
                let key = try storage.keyText(KeyText.of(row.values, type: type), of: row.id, in: set),
                let creation = creations[ExactText("\(row.set)(\(key))")]?.first(where: {
                    $0.sequence > deletion.sequence
                })
            else { continue }
            found.append(ReplacedDeletion(deletion: deletion, creation: creation, former: row.values))
        }
        return found
    }
}
