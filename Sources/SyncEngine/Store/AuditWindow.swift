public import Operations

/// How much of the log's history a compaction keeps. What is pending is kept whatever it says, in the snapshot.
public enum AuditWindow: Sendable, Hashable {
    case everything
    /// What was recorded in the last so many days, by the times in the records.
    case days(Int)
    /// The newest segments that take no more than so many bytes together.
    case bytes(UInt64)
}

/// What a compaction did.
public struct StoreCompaction: Sendable, Hashable {
    /// The state as one file: who has it needs no record in front of ``StoreSnapshot/sequence``.
    public let snapshot: StoreSnapshot
    /// The first operation that the log still has, or will have where it has none.
    public let firstSequence: SequenceNumber
    public let removedSegments: Int
    public let removedSnapshots: Int
    /// What the log's directory took, snapshots included.
    public let bytesBefore: UInt64
    public let bytesAfter: UInt64
}

/// A state in the log's directory.
public struct StoreSnapshot: Sendable, Hashable {
    /// The first operation that it does not include.
    public let sequence: SequenceNumber
    public let bytes: UInt64
    /// A hash over the state: equal for stores whose logs say the same.
    public let digest: String
}
