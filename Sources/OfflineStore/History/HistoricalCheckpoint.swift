import OperationLog
import Operations

/// A state between the position of a historical store and that of its last trial.
///
/// If the trial is rolled back, a bisection continues halfway, so that the records before the checkpoint need not be
/// folded again.
struct HistoricalCheckpoint {
    /// The number of records from which a trial makes a checkpoint; see `LocalStoreOptions`.
    let distance: UInt64
    /// The state, which tracks its changes from the position of the store.
    private var state: HistoricalFold?

    init(distance: UInt64) { self.distance = distance }

    /// Discards the state, because the store is at another position.
    mutating func discard() { state = nil }

    /// Returns a state that tracks its changes from the position of the store, from which a trial folds the records
    /// through `last`: the checkpoint, or a copy of the store's state.
    ///
    /// A checkpoint is used only once, because the trial folds further records into it, and is dropped if it is after
    /// `last`. If no checkpoint can be used and many records are to be folded, a new one is made, and the returned state
    /// is at its position.
    ///
    /// - Parameter past: The state at the position of the store.
    mutating func start(
        from past: HistoricalFold, through last: SequenceNumber, _ reader: LogReader
    ) throws -> HistoricalFold {
        if let checkpoint = state.take(), try checkpoint.applied <= last { return checkpoint }
        var start = try past.trackingCopy()
        guard let middle = middle(from: try past.applied, through: last) else { return start }
        try start.advance(through: middle, reader)
        state = try start.copy()
        return start
    }

    /// Returns the position of the checkpoint of a trial, or nil if there are few records.
    ///
    /// After a rollback a bisection continues there, or one record later if it has evaluated the condition at `first`.
    private func middle(from first: SequenceNumber, through last: SequenceNumber) -> SequenceNumber? {
        // Below three records, the middle is the position of the store, whose state is available anyway.
        guard last > first, last - first >= max(distance, 3) else { return nil }
        return first + (last - first - 1) / 2
    }
}
