package import Operations
package import SyncCore

/// A check that a log always leads to the same state: the digests of its snapshots, runs that begin with each of them,
/// and the storage of the store itself have to agree, and each sent batch has to be rebuilt byte by byte.
package struct ReplayCheck: Sendable, Hashable {
    /// The divergence of two runs.
    package enum Divergence: Sendable, Hashable {
        /// The state in the snapshot before this record differs from the state that the records lead to.
        case snapshot(SequenceNumber)
        /// A run that began with the snapshot diverges at this record from one that began earlier.
        case origin(snapshot: SequenceNumber, record: SequenceNumber)
        /// A run in SQLite diverges at this record from one in memory.
        case views(record: SequenceNumber)
        /// A run that was recorded elsewhere diverges at this record from this one.
        case other(record: SequenceNumber, digest: StateDigest)
        /// A run that was recorded elsewhere has this record, which is after the end of this log.
        case ended(record: SequenceNumber)
    }

    /// A batch that differs from the sent one when rebuilt, or cannot be rebuilt.
    package struct DifferentBatch: Sendable, Hashable {
        /// The number of the prepared record.
        package let sequence: SequenceNumber
        package let batch: ReplayedBatch
    }

    package internal(set) var origin: Replay.Origin
    /// The number of folded records.
    package internal(set) var records: UInt64 = 0
    /// The number of the last folded record.
    package internal(set) var last: SequenceNumber = 0
    /// The digest of the state after the last record.
    package internal(set) var digest: StateDigest
    /// The correct snapshots, by the first record that each does not include.
    package internal(set) var snapshots: [SequenceNumber] = []
    /// The number of batches that were rebuilt identically.
    package internal(set) var identicalBatches = 0
    /// The number of rebuilt batches for which the log has no fingerprint.
    package internal(set) var unknownBatches = 0
    /// The batches that differ or cannot be rebuilt.
    package internal(set) var differentBatches: [DifferentBatch] = []
    /// The state of the views in the store's directory; nil if they were not checked because the log is damaged or
    /// diverges.
    package internal(set) var storedViews: StoredViews?
    /// The first divergence.
    package internal(set) var divergence: Divergence?
    /// The number of compared states of a run that was recorded elsewhere, up to the divergence.
    package internal(set) var comparedStates = 0
    /// The number of states of that run that could not be compared, because they precede this log or
    /// follow lost records.
    package internal(set) var incomparableStates = 0
    /// Whether the log is damaged, so that the check covers only the readable part.
    package internal(set) var isDamaged = false
    /// The number of lost records.
    package internal(set) var lostRecords: UInt64 = 0

    /// A Boolean value that indicates whether no difference was found. Damage alone is no difference; another run
    /// without any comparable state is one.
    package var isSound: Bool {
        divergence == nil && storedViews?.isWrong != true && differentBatches.isEmpty
            && (incomparableStates == 0 || comparedStates > 0)
    }

    mutating func add(_ batch: ReplayedBatch, _ sequence: SequenceNumber) {
        switch batch.comparison {
        case .identical: identicalBatches += 1
        case .unknown: unknownBatches += 1
        case .different, .unbuildable: differentBatches.append(DifferentBatch(sequence: sequence, batch: batch))
        }
    }
}
