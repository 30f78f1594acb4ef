public import Operations
public import SyncCore

/// Whether a log leads to the same each time that it is folded: to the digests that its snapshots hold, beginning with each of
/// them, in the storage that the store itself uses; and whether each batch that was sent is built again to the byte.
public struct ReplayCheck: Sendable, Hashable {
    /// Where two runs part.
    public enum Divergence: Sendable, Hashable {
        /// The state that the snapshot in front of this record holds is not the one that the records lead to.
        case snapshot(SequenceNumber)
        /// A run that began with the snapshot parts from one that began earlier with this record, up to which both agree.
        case origin(snapshot: SequenceNumber, record: SequenceNumber)
        /// A run in SQLite parts from one in memory with this record.
        case views(record: SequenceNumber)
        /// A run that was recorded elsewhere parts from this one with this record.
        case other(record: SequenceNumber, digest: StateDigest)
        /// A run that was recorded elsewhere has this record, which is behind the end of this log.
        case ended(record: SequenceNumber)
    }

    /// A batch that is not built as it was sent, or cannot be.
    public struct DifferentBatch: Sendable, Hashable {
        /// Of the record that says that it was prepared.
        public let sequence: SequenceNumber
        public let batch: ReplayedBatch
    }

    public internal(set) var origin: Replay.Origin
    /// How many records were folded, and which was the last.
    public internal(set) var records: UInt64 = 0
    public internal(set) var last: SequenceNumber = 0
    /// Of the state behind the last record.
    public internal(set) var digest: StateDigest
    /// The snapshots that hold, by the first record that each does not include.
    public internal(set) var snapshots: [SequenceNumber] = []
    /// How many batches were built again as they were sent.
    public internal(set) var identicalBatches = 0
    /// How many were built that the log has nothing to compare with.
    public internal(set) var unknownBatches = 0
    public internal(set) var differentBatches: [DifferentBatch] = []
    /// What the views in the store's directory are worth; nil if that was not looked at, as the log itself is damaged or leads
    /// to different states.
    public internal(set) var storedViews: StoredViews?
    /// The first that was found.
    public internal(set) var divergence: Divergence?
    /// How many states of a run that was recorded elsewhere were compared, up to the divergence; and how many could not be, as
    /// what this log has begins behind them, or records in front of them are lost.
    public internal(set) var comparedStates = 0
    public internal(set) var incomparableStates = 0
    /// Whether the log is damaged, so that all this is of what can be read; and how many records are lost.
    public internal(set) var isDamaged = false
    public internal(set) var lostRecords: UInt64 = 0

    /// Damage by itself is no difference; another run of which nothing can be compared is one.
    public var isSound: Bool {
        divergence == nil && storedViews?.isWrong != true && differentBatches.isEmpty
            && (incomparableStates == 0 || comparedStates > 0)
    }

    mutating func note(_ batch: ReplayedBatch, _ sequence: SequenceNumber) {
        switch batch.comparison {
        case .identical: identicalBatches += 1
        case .unknown: unknownBatches += 1
        case .different, .unbuildable: differentBatches.append(DifferentBatch(sequence: sequence, batch: batch))
        }
    }
}
