import OperationLog
import Operations
import SyncEngine

/// A stretch of a log as it is passed on: its records, and where it does not begin with the first one, the snapshot that
/// has the state in front of it.
struct LogPassage {
    enum Piece {
        case record(LogRecord)
        /// A record of the snapshot in front of the next record.
        case snapshotItem(kind: UInt8, payload: [UInt8])
    }

    let reader: LogReader
    let first: SequenceNumber
    /// The last record, also where more was appended meanwhile. One less than ``first`` where there is none.
    let last: SequenceNumber
    /// Nil where none is needed, or none helps.
    let snapshot: SnapshotFile?

    /// Whether a store can be made of it.
    var isComplete: Bool { first == 1 || snapshot != nil }

    /// - Parameter from: nil for all that the log has, with a snapshot where it is compacted.
    /// - Throws: ``LogError/compacted(first:)`` where the log has only what is behind `through`.
    init(_ reader: LogReader, from: SequenceNumber?, through: SequenceNumber?) throws(LogError) {
        self.reader = reader
        let begin = try reader.firstSequence()
        let end = try reader.nextSequence() - 1
        if let through, through < begin, begin - through > 1 { throw .compacted(first: begin) }
        first = max(begin, from ?? begin)
        last = max(first - 1, min(end, through ?? end))
        snapshot = first == begin && begin > 1 ? try Self.snapshot(reader, from: begin, through: last) : nil
    }

    /// The oldest one that holds: so all that the log says behind it stays to be looked at.
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

    /// Calls `body` with every piece in order, in memory for one of them and a block.
    func forEach(_ body: (Piece) throws -> Void) throws {
        guard last >= first else { return try forEachOfSnapshot(body) }
        let records = reader.records(from: first, through: last)
        while let record = try records.next() {
            if record.sequence == snapshot?.sequence { try forEachOfSnapshot(body) }
            try body(.record(record))
        }
        if snapshot?.sequence == last + 1 { try forEachOfSnapshot(body) }
    }

    private func forEachOfSnapshot(_ body: (Piece) throws -> Void) throws {
        guard let snapshot else { return }
        let items = try reader.snapshot(snapshot)
        while let item = try items.next() { try body(.snapshotItem(kind: item.kind, payload: item.payload)) }
    }
}

extension InspectedStore {
    /// Whether any part of the log is encrypted.
    public var isEncrypted: Bool { LogReader.hasEncryption(directory: files.log, fileSystem: disk) }

    /// A reader of a log without damage; see ``sound()``.
    func soundReader() throws(TidelogError) -> (reader: LogReader, isDamaged: Bool) {
        let store = try sound()
        return (try store.openReader(), store.salvagedOnce.isSalvaged)
    }
}
