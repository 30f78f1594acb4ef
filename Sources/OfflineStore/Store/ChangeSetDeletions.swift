import Operations
import SyncCore

/// The deletions of one change set. A deletion that `OnDelete` has already performed needs no operation, so the order
/// in which an app deletes a parent and its children does not matter.
struct ChangeSetDeletions {
    /// The entities to delete that exist before the change set.
    private var expected: Set<EntityID> = []

    mutating func expect(_ intent: Intent, _ builder: OperationBuilder, _ state: WorkingSet) throws {
        guard case .delete(let address) = intent else { return }
        // New entities of the change set do not exist yet, and unresolvable addresses are refused later.
        if case .draft = address { return }
        guard let id = try? builder.entity(address), try state.row(id) != nil else { return }
        expected.insert(id)
    }

    mutating func isDone(_ intent: Intent, _ action: Operation.Action, _ state: WorkingSet) throws -> Bool {
        guard case .delete = intent, case .delete(let id) = action else { return false }
        // A second deletion of the same entity is an error and is refused.
        return try expected.remove(id) != nil && state.row(id) == nil
    }
}
