import EDM
package import OfflineStore
import OperationLog
package import Operations

/// A record with its complete content, its location, and its related records.
package struct RecordDetail: Sendable {
    package let entry: HistoryEntry
    /// The kind number in the log; nil if ``compactedBefore`` is set.
    package let kindNumber: UInt8?
    /// The encoded size without the log's framing; nil if ``compactedBefore`` is set.
    package let payloadBytes: Int?
    /// The location; nil if it is unknown because of damage before it.
    package let place: DiskLocation?
    /// The log's first record, if a compaction has removed this record. The operation is then described by the newest
    /// snapshot and later records.
    package let compactedBefore: SequenceNumber?
    /// The outcome of an operation.
    package let outcome: OperationOutcome?
    /// The exchanges with the service for an operation, or for the operations of a batch record.
    package internal(set) var exchanges: [Exchange]
    /// Earlier records that this record depends on, in order.
    package let causes: [Related]
    /// Later records about this record, in order.
    package let effects: [Related]

    /// The location of a record on disk.
    package struct DiskLocation: Sendable, Hashable {
        /// The path of the segment file.
        package let path: String
        /// The offset of the block from the beginning of the file, in bytes.
        package let blockOffset: UInt64
        /// The size of the block's records without the block header, compressed and possibly encrypted.
        package let blockStoredBytes: UInt64
        package let blockRawBytes: UInt64
        /// The block's records. In a block that is not packed, they belong to one commit.
        package let blockRecords: ClosedRange<SequenceNumber>
        /// Whether the values of each field are stored together, as in a packed segment.
        package let isPacked: Bool
    }

    /// A related record.
    package struct Related: Sendable, Hashable {
        package let sequence: SequenceNumber
        package let time: Timestamp?
        /// The kind, as in ``HistoryEntry/kind``.
        package let kind: String
        package let summary: String
    }
}

extension InspectedStore {
    /// Returns the record with the number.
    ///
    /// Cost: a few searches in the log, mostly without decoding.
    ///
    /// - Throws: `notFound` if the log has no such record, or a compaction has removed it and no snapshot has it as a
    ///   pending or undone operation. Otherwise as ``provenance(of:)``.
    package func detail(of sequence: SequenceNumber) throws(TidelogError) -> RecordDetail {
        let place = try? RecordDetailSearch.place(of: sequence, try reader())
        return try readable { reader throws in
            try RecordDetailSearch(sequence, reader).detail(place: place ?? nil)
        }
    }
}
