import EDM
package import OperationLog
import Operations
import SyncCore

/// A forward cursor over the history. Not thread-safe.
///
/// At the end of the log ``next()`` returns nil. Later calls return records that were appended since, so a reader can
/// follow a log by keeping the cursor.
package final class HistoryCursor {
    private let directory: String
    private let keys: [LogKey]
    private let fileSystem: any FileSystem
    private var reader: LogReader?
    private var records: LogCursor?
    /// The sets learned from the items so far, and from the snapshot of a compacted log.
    private(set) var sets = EntitySets()
    private let decoder = RecordDecoder()
    /// The number after the last returned record.
    private var following: SequenceNumber = 1
    private var isEnded = false
    /// The readable copy, created at the first damage.
    private var salvaged: Salvaged?
    /// Items to return first.
    private var carried: ArraySlice<HistoryItem> = []
    /// The item after a range of lost records, which was read to find its end.
    private var ahead: HistoryItem?

    init(directory: String, keys: [LogKey], fileSystem: any FileSystem) {
        self.directory = directory
        self.keys = keys
        self.fileSystem = fileSystem
    }

    /// Returns the next item.
    ///
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a read error. It never
    ///   throws ``LogError/damaged(_:)`` or ``LogError/compacted(first:)``; these are items.
    package func next() throws(LogError) -> HistoryItem? {
        if let ahead {
            self.ahead = nil
            return ahead
        }
        let item = try nextItem()
        guard case .lost(let range)? = item else { return item }
        var last = range.upperBound
        while let item = try nextItem() {
            guard case .lost(let more) = item else {
                ahead = item
                break
            }
            last = more.upperBound
        }
        return .lost(range.lowerBound...last)
    }

    private func nextItem() throws(LogError) -> HistoryItem? {
        guard !isEnded else { return nil }
        if let item = carried.popFirst() { return item }
        do throws(LogError) {
            guard let record = try nextRecord() else { return nil }
            following = record.sequence &+ 1
            return decoded(record)
        } catch {
            if case .compacted(let first) = error {
                defer { following = first }
                records = nil
                try carryOver(before: first)
                return .compacted(from: following, resumesAt: first)
            }
            guard case .damaged(let damage) = error else { throw error }
            let next = try resume(after: damage)
            isEnded = next == nil
            return .damage(damage, resumesAt: next)
        }
    }

    private func nextRecord() throws(LogError) -> LogRecord? {
        let records = if let records { records } else { try openReader().records(from: following) }
        self.records = records
        if let record = try records.next() { return record }
        // Another copy is made if records were appended after the damage.
        guard let salvaged, salvaged.isInUse, try logBytes() != salvaged.bytes else { return nil }
        let renewed = try salvagedReader().records(from: following)
        self.records = renewed
        return try renewed.next()
    }

    /// Prepares the items for removed operations that the snapshot still contains.
    private func carryOver(before first: SequenceNumber) throws(LogError) {
        let reader = if let salvaged, salvaged.isInUse { salvaged.reader } else { try openReader() }
        let history = try CompactedHistory(reader, first: first, &sets)
        carried =
            history.operations.map { operation, outcome in
                let record = Record(time: operation.time, body: .operation(operation.operation))
                let entry = HistoryEntry(sequence: operation.sequence, record: record, sets: sets)
                return HistoryItem.carried(entry, outcome: outcome, resumesAt: first)
            }[...]
    }

    private func openReader() throws(LogError) -> LogReader {
        if let reader { return reader }
        let opened = try LogReader(directory: directory, keys: keys, fileSystem: fileSystem)
        reader = opened
        return opened
    }

    private func decoded(_ record: LogRecord) -> HistoryItem {
        do throws(CodecError) {
            let decoded = try decoder.decode(kind: record.kind, payload: record.bytes)
            if case .lost = decoded.body { return .lost(record.sequence...record.sequence) }
            sets.add(from: decoded.body)
            return .entry(HistoryEntry(sequence: record.sequence, record: decoded, sets: sets))
        } catch {
            return .undecodable(
                sequence: record.sequence, kind: record.kind, reason: RecordSummary.oneLine("\(error)", limit: 200))
        }
    }

    // MARK: Behind damage

    /// The readable part of the log, in memory.
    private struct Salvaged {
        let reader: LogReader
        /// The size of the log when the copy was made.
        let bytes: UInt64
        /// Whether records are read from the copy.
        var isInUse = false
    }

    /// Continues with the first record after the damage that a repair would save, in the log itself if possible,
    /// otherwise in a readable copy.
    ///
    /// - Returns: The record, or nil if there is none.
    private func resume(after damage: LogDamage) throws(LogError) -> SequenceNumber? {
        guard salvaged?.isInUse != true else { return nil }
        let copy = try salvagedReader()
        guard let next = try firstSaved(copy) else { return nil }
        following = next
        do throws(LogError) {
            // The damaged record itself may be recoverable from a duplicate.
            guard next > damage.sequence, try openReader().record(next) != nil else { throw .damaged(damage) }
            records = nil
        } catch {
            guard case .damaged = error else { throw error }
            records = copy.records(from: next)
            salvaged?.isInUse = true
        }
        return next
    }

    private func firstSaved(_ copy: LogReader) throws(LogError) -> SequenceNumber? {
        do throws(LogError) {
            let records = copy.records(from: following)
            while let record = try records.next() {
                if record.kind != LogRepair.lostKind { return record.sequence }
            }
            return nil
        } catch {
            if case .compacted(let first) = error { return first }
            throw error
        }
    }

    private func salvagedReader() throws(LogError) -> LogReader {
        let bytes = try logBytes()
        if let salvaged, salvaged.bytes == bytes { return salvaged.reader }
        let repair = LogRepair(directory: directory, keys: keys, fileSystem: fileSystem)
        let reader = try LogReader(directory: directory, keys: keys, fileSystem: try repair.inMemory().fileSystem)
        salvaged = Salvaged(reader: reader, bytes: bytes, isInUse: salvaged?.isInUse ?? false)
        return reader
    }

    private func logBytes() throws(LogError) -> UInt64 {
        do throws(FileSystemError) {
            var bytes: UInt64 = 0
            for name in try fileSystem.list(directory) {
                // A file that was removed meanwhile does not count.
                guard let file = try? fileSystem.open(directory + "/" + name, .read) else { continue }
                defer { file.close() }
                bytes += try file.size()
            }
            return bytes
        } catch {
            throw .fileSystem(error)
        }
    }
}
