package import OfflineStore
import OperationLog
package import Operations
package import SyncCore

extension InspectedStore {
    /// Folds the log several times and compares the results; see ``ReplayCheck``. Ends at the first divergence.
    ///
    /// - Parameters:
    ///   - others: The states of a run in another build or on another machine, in order of the records.
    ///   - progress: Called with the number of records that the first run has folded, and the total.
    /// - Throws: The errors of a ``Replay``.
    package func checkReplay(
        against others: [(record: SequenceNumber, digest: StateDigest)] = [],
        progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
    ) async throws(TidelogError) -> ReplayCheck {
        try await salvaging { store throws(TidelogError) in
            try await ReplayChecker(store).check(against: others, progress)
        }
    }
}
