import EDM
import OperationLog
import Operations

/// The records of a transaction that were folded and not appended to the log yet.
///
/// Each is encoded when it is added, while its values are in the processor's cache.
struct UncommittedRecords {
    private(set) var records: [Record] = []
    private var first: SequenceNumber = 1
    /// The same records, encoded.
    private(set) var commit = Commit()
    /// A buffer for the payload of a record, kept for its capacity.
    private var payload = ByteWriter(minimumCapacity: 256)

    private static let keptCount = 64

    /// Encodes the next record. Returns its payload.
    mutating func encode(_ record: Record) throws(LogError) -> [UInt8] {
        payload.removeAll()
        let kind = RecordCodec.encode(record, into: &payload)
        try commit.add(kind: kind, payload: payload.bytes)
        return payload.bytes
    }

    /// Adds the record that was just encoded.
    mutating func add(_ record: consuming Record) { records.append(record) }

    /// Starts a transaction whose first record gets this number.
    mutating func begin(at sequence: SequenceNumber) {
        removeAll()
        first = sequence
    }

    /// The sequence number of the next record. The log is only asked at the start, because it locks its tail.
    var nextSequence: SequenceNumber { first + UInt64(records.count) }

    /// Removes all records, and keeps the memory for later ones.
    mutating func removeAll() {
        records.removeAll(keepingCapacity: records.count <= Self.keptCount)
        commit.removeAll()
    }
}
