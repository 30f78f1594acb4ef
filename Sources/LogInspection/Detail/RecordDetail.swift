import EDM
import OperationLog
public import Operations
public import SyncEngine

/// One record with all that it says, where it lies, and what it has to do with other records.
public struct RecordDetail: Sendable {
    public let entry: HistoryEntry
    /// As the log keeps it; nil where ``compactedBefore`` is there.
    public let kindNumber: UInt8?
    /// Of the record as it was encoded, without the log's framing; nil where ``compactedBefore`` is there.
    public let payloadBytes: Int?
    /// Nil where only a repair could tell it: damage lies in front of it.
    public let place: Place?
    /// The log's first record, where a compaction has removed this one: what is told of the operation is what the newest
    /// snapshot has of it and what later records say.
    public let compactedBefore: SequenceNumber?
    /// Of an operation.
    public let fate: OperationFate?
    /// The ways to the service and back of an operation, or of the operations of a batch's record.
    public internal(set) var exchanges: [Exchange]
    /// Earlier records without which it would not be, in order.
    public let causes: [Related]
    /// Later records that are about it, in order.
    public let effects: [Related]

    /// Where a record lies on the disk.
    public struct Place: Sendable, Hashable {
        /// The segment's file.
        public let path: String
        /// Where the block begins, in bytes from the file's beginning.
        public let blockOffset: UInt64
        /// The block's records, compressed and maybe encrypted, without the block's header.
        public let blockStoredBytes: UInt64
        public let blockRawBytes: UInt64
        /// The block's records, in one that is not packed those of a commit or of a part of one.
        public let blockRecords: ClosedRange<SequenceNumber>
        /// Whether the values of each field lie side by side, as in a packed segment.
        public let isPacked: Bool
    }

    /// Another record and what it is to this one.
    public struct Related: Sendable, Hashable {
        public let sequence: SequenceNumber
        public let time: Timestamp?
        /// As ``HistoryEntry/kind``.
        public let kind: String
        public let summary: String
    }
}

extension InspectedStore {
    /// The record with the number.
    ///
    /// Cost: a few looks at the log, mostly without decoding.
    ///
    /// - Throws: `notFound` where the log has no such record, or a compaction has removed it, but for an operation that a
    ///   snapshot has: one that had not ended, or was undone; otherwise as ``provenance(of:)``.
    public func detail(of sequence: SequenceNumber) throws(TidelogError) -> RecordDetail {
        let place = try? RecordDetailSearch.place(of: sequence, try reader())
        return try readable { reader throws in
            try RecordDetailSearch(sequence, reader).detail(place: place ?? nil)
        }
    }
}
