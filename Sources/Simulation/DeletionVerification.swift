import OfflineStore
import Operations
import SyncCore

/// The check of deletions in doubt.
enum DeletionVerification {
    /// Checks that no deletion is in doubt after an upload without faults although the service does not have its entity:
    /// no decision of the user is required. It may be in doubt together with a creation of its change set, whose content
    /// proves nothing, or with a call, of which no state is a proof.
    static func check(_ device: Device, in run: isolated Simulation) async {
        do {
            let awaited = Set(try await device.store.doubts.awaitedOperations().values.joined())
            // As sent: the planner adds the creation of an entity to the change set of a link to it.
            let sets = try await device.store.doubts.inDoubtSets().filter { members in
                members.allSatisfy { $0.operation.createdEntities.isEmpty && $0.operation.call == nil }
            }
            let doubts = sets.joined().filter { pending in
                guard case .delete = pending.operation.action else { return false }
                return !awaited.contains(pending.sequence)
            }
            guard !doubts.isEmpty else { return }
            let marks = History(try device.allRecords()).marks
            for pending in doubts where !run.service.ledger.present.contains(marks[pending.operation.subject] ?? "") {
                run.violated("d\(device.number): the deletion \(pending.sequence) stays in doubt.")
            }
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number): the deletions in doubt cannot be read: \(error)") }
        }
    }
}
