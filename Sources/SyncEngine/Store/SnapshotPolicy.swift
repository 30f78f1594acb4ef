/// When a store writes its state into the log's directory as a snapshot, so that its views can be made again without the
/// whole log.
public enum SnapshotPolicy: Sendable, Hashable {
    /// When the app asks, and for a compaction.
    case manual
    /// Also on its own: after an upload or download, at opening and at closing, once the log behind the newest snapshot has
    /// grown to `growth` bytes and to the length of that snapshot.
    ///
    /// The second makes the cost follow what is written: a store of a gigabyte is not written again for each megabyte of
    /// changes, and no more is written for snapshots than for the log. Making the views again folds about as many bytes of
    /// log at most as it reads of the snapshot.
    case automatic(growth: UInt64 = 4 << 20)
}
