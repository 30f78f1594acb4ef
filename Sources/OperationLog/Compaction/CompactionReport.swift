/// What ``OperationLog/compact(keepingFrom:)`` removed.
public struct CompactionReport: Sendable, Hashable {
    /// The first record that is still there, or will be where there is none.
    public let firstSequence: UInt64
    /// The newest snapshot; nil where there is none that holds, and then nothing was removed.
    public let snapshot: SnapshotFile?
    public internal(set) var removedSegments = 0
    public internal(set) var removedSnapshots = 0
    /// What the removed files took.
    public internal(set) var removedBytes: UInt64 = 0
}
