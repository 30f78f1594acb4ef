/// The result of ``OperationLog/compact(keepingFrom:)``.
package struct CompactionReport: Sendable, Hashable {
    /// The sequence number of the first record that the log still has, or of the next one if it has none.
    package let firstSequence: UInt64
    /// The newest snapshot, or nil if no snapshot is intact. In that case nothing was removed.
    package let snapshot: SnapshotFile?
    package internal(set) var removedSegments = 0
    package internal(set) var removedSnapshots = 0
    /// The total size of the removed files, in bytes.
    package internal(set) var removedBytes: UInt64 = 0
}
