/// The result of ``OperationLog/compact(keepingFrom:)``.
public struct CompactionReport: Sendable, Hashable {
    /// The sequence number of the first record that the log still has, or of the next one if it has none.
    public let firstSequence: UInt64
    /// The newest snapshot, or nil if no snapshot is intact. In that case nothing was removed.
    public let snapshot: SnapshotFile?
    public internal(set) var removedSegments = 0
    public internal(set) var removedSnapshots = 0
    /// The total size of the removed files, in bytes.
    public internal(set) var removedBytes: UInt64 = 0
}
