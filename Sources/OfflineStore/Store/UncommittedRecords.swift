import EDM
import OperationLog
import Operations

/// The records of a transaction that were folded and not appended to the log yet.
///
/// Each is encoded when it is added, while its values are in the processor's cache.
struct UncommittedRecords {
    private(set) var records: [Record] = []
    /// The same records, encoded.
    private(set) var commit = Commit()
    /// A buffer for the payload of a record, kept for its capacity.
    private var payload = ByteWriter(minimumCapacity: 256)

    private static let keptCount = 64

    /// Adds a record. Returns its payload.
    mutating func add(_ record: consuming Record) throws(LogError) -> [UInt8] {
        payload.removeAll()
        let kind = RecordCodec.encode(record, into: &payload)
        try commit.add(kind: kind, payload: payload.bytes)
        records.append(record)
        return payload.bytes
    }

    /// Removes all records, and keeps the memory for later ones.
    mutating func removeAll() {
        records.removeAll(keepingCapacity: records.count <= Self.keptCount)
        commit.removeAll()
    }
}
