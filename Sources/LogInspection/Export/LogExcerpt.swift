import OfflineStore
import OperationLog
import Operations

/// A range of a log with its records, and the snapshot of the preceding state if the log does not begin with the first
/// record.
struct LogExcerpt {
    enum Element {
        case record(LogRecord)
        /// A record of the snapshot before the next record.
        case snapshotItem(kind: UInt8, payload: [UInt8])
    }

    let reader: LogReader
    let first: SequenceNumber
    /// The last record, even if more were appended meanwhile. It is one less than ``first`` if the range is empty.
    let last: SequenceNumber
    /// The snapshot, or nil if none is needed or available.
    let snapshot: SnapshotFile?

    /// Whether a store can be built from the range.
    var isComplete: Bool { first == 1 || snapshot != nil }

    /// Creates a range.
    ///
    /// - Parameter from: The first record, or nil for the whole log, with a snapshot if the log is compacted.
    /// - Throws: ``LogError/compacted(first:)`` if the log has only records after `through`.
    init(_ reader: LogReader, from: SequenceNumber?, through: SequenceNumber?) throws(LogError) {
        self.reader = reader
        let begin = try reader.firstSequence()
        let end = try reader.nextSequence() - 1
        if let through, through < begin, begin - through > 1 { throw .compacted(first: begin) }
        first = max(begin, from ?? begin)
        last = max(first - 1, min(end, through ?? end))
        snapshot = first == begin && begin > 1 ? try Self.snapshot(reader, from: begin, through: last) : nil
    }

    /// Returns the oldest intact snapshot, so that as many records as possible are included.
    private static func snapshot(
        _ reader: LogReader, from first: SequenceNumber, through last: SequenceNumber
    ) throws(LogError) -> SnapshotFile? {
        for snapshot in try reader.snapshots() where snapshot.sequence >= first && snapshot.sequence <= last + 1 {
            do throws(LogError) {
                _ = try reader.verify(snapshot)
                return snapshot
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
        return nil
    }

    /// Calls `body` with every piece in order. It holds one piece and one block in memory.
    func forEach(_ body: (Element) throws -> Void) throws {
        guard last >= first else { return try forEachOfSnapshot(body) }
        let records = reader.records(from: first, through: last)
        while let record = try records.next() {
            if record.sequence == snapshot?.sequence { try forEachOfSnapshot(body) }
            try body(.record(record))
        }
        if snapshot?.sequence == last + 1 { try forEachOfSnapshot(body) }
    }

    private func forEachOfSnapshot(_ body: (Element) throws -> Void) throws {
        guard let snapshot else { return }
        let items = try reader.snapshot(snapshot)
        while let item = try items.next() { try body(.snapshotItem(kind: item.kind, payload: Array(item.bytes))) }
    }
}

extension InspectedStore {
    /// A Boolean value that indicates whether any part of the log is encrypted.
    public var isEncrypted: Bool { LogReader.hasEncryption(directory: files.log, fileSystem: disk) }

    /// Returns a reader of a log without damage; see ``sound()``.
    func soundReader() throws(TidelogError) -> (reader: LogReader, isDamaged: Bool) {
        let store = try sound()
        return (try store.openReader(), store.salvagedOnce.isSalvaged)
    }
}
