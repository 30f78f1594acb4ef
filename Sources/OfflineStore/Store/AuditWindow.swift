public import Operations

/// The part of the log's history that a compaction keeps. Pending operations are always kept, in the snapshot.
public enum AuditWindow: Sendable, Hashable {
    /// All records.
    case everything
    /// The records of the last days, by the times in the records.
    case days(Int)
    /// The newest segments up to a total size in bytes.
    case bytes(UInt64)
}

/// The result of a compaction.
public struct StoreCompaction: Sendable, Hashable {
    /// The state as one file. With it, no record before ``StoreSnapshot/sequence`` is needed.
    public let snapshot: StoreSnapshot
    /// The first operation that the log still has, or will have if it is empty.
    public let firstSequence: SequenceNumber
    /// The number of removed segments of the log.
    public let removedSegments: Int
    /// The number of removed snapshots.
    public let removedSnapshots: Int
    /// The size of the log's directory before the compaction, including snapshots.
    public let bytesBefore: UInt64
    /// The size of the log's directory after the compaction.
    public let bytesAfter: UInt64
}

/// A snapshot of the state in the log's directory.
public struct StoreSnapshot: Sendable, Hashable {
    /// The first operation that the snapshot does not include.
    public let sequence: SequenceNumber
    /// The size of the file in bytes.
    public let bytes: UInt64
    /// A hash of the state. It is equal for stores whose logs have the same content.
    public let digest: String
}
