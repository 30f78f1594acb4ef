import Operations
import SyncCore

/// The deletions of one change set: one that another has done already, since `OnDelete` took the entity along, needs no
/// operation. The order in which an app names a parent and its children does not matter.
struct ChangeSetDeletions {
    /// Entities to be deleted that are there before the change set.
    private var expected: Set<EntityID> = []

    mutating func expect(_ intents: [Intent], _ builder: OperationBuilder, _ state: WorkingSet) throws {
        for intent in intents {
            guard case .delete(let address) = intent else { continue }
            // New entities of the change set are not there yet, and what leads nowhere is refused in its turn.
            if case .draft = address { continue }
            guard let id = try? builder.entity(address), try state.row(id) != nil else { continue }
            expected.insert(id)
        }
    }

    mutating func isDone(_ action: Operation.Action, _ state: WorkingSet) throws -> Bool {
        guard case .delete(let id) = action else { return false }
        // Named twice it is a mistake, and refused.
        return try expected.remove(id) != nil && state.row(id) == nil
    }
}
