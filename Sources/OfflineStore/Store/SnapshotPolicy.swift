/// The policy for writing snapshots, from which the views can be rebuilt without the whole log.
public enum SnapshotPolicy: Sendable, Hashable {
    /// Only on request, and for a compaction.
    case manual
    /// Also automatically: after an upload or download, when opening and when closing, if the log after the newest
    /// snapshot has grown to `growth` bytes and to the size of that snapshot.
    ///
    /// The second condition bounds the cost by the amount of changes: a store of a gigabyte is not written again for
    /// each megabyte of changes, and snapshots never take more writing than the log. Rebuilding the views folds at most
    /// about as many bytes of log as it reads from the snapshot.
    case automatic(growth: UInt64 = 4 << 20)
}
