import EDM
public import OperationLog
import Operations
import SyncCore

/// A place in the history that moves forward. Not to be shared between threads.
///
/// At the end of the log ``next()`` gives nil; asked again later it goes on with what was appended since. So who follows a
/// log keeps its cursor.
public final class HistoryCursor {
    private let directory: String
    private let keys: [LogKey]
    private let fileSystem: any FileSystem
    private var reader: LogReader?
    private var records: LogCursor?
    /// What the items so far told, and the snapshot of a log that was compacted.
    private(set) var sets = EntitySets()
    private let decoder = RecordDecoder()
    /// Behind the last record that was given.
    private var following: SequenceNumber = 1
    private var isEnded = false
    /// To be given before anything else.
    private var carried: ArraySlice<HistoryItem> = []
    /// Read behind lost records, to see where they end.
    private var ahead: HistoryItem?

    init(directory: String, keys: [LogKey], fileSystem: any FileSystem) {
        self.directory = directory
        self.keys = keys
        self.fileSystem = fileSystem
    }

    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a failure to read. Never
    ///   ``LogError/damaged(_:)`` or ``LogError/compacted(first:)``: these are items.
    public func next() throws(LogError) -> HistoryItem? {
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
            let reader = try openReader()
            let records = self.records ?? reader.records(from: following)
            self.records = records
            guard let record = try records.next() else { return nil }
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
            let next = try firstReadable(behind: max(damage.sequence, following))
            if let next {
                following = next
                records = reader?.records(from: next)
            } else {
                isEnded = true
            }
            return .damage(damage, resumesAt: next)
        }
    }

    /// What the snapshot still has of the operations that were removed.
    private func carryOver(before first: SequenceNumber) throws(LogError) {
        let history = try CompactedHistory(try openReader(), first: first, &sets)
        carried =
            history.operations.map { operation, fate in
                let record = Record(time: operation.time, body: .operation(operation.operation))
                let entry = HistoryEntry(sequence: operation.sequence, record: record, sets: sets)
                return HistoryItem.carried(entry, fate: fate, resumesAt: first)
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
            let decoded = try decoder.decode(kind: record.kind, payload: record.payload)
            if case .lost = decoded.body { return .lost(record.sequence...record.sequence) }
            sets.learn(from: decoded.body)
            return .entry(HistoryEntry(sequence: record.sequence, record: decoded, sets: sets))
        } catch {
            return .undecodable(
                sequence: record.sequence, kind: record.kind, reason: RecordSummary.oneLine("\(error)", limit: 200))
        }
    }

    // MARK: Behind damage

    private enum Probe {
        case readable(SequenceNumber)
        case unreadable
        case end
    }

    /// The first record behind an unreadable one that can be read: looks in steps that double, then halves the last one.
    /// Where several places are damaged, an intact stretch between them may be stepped over.
    private func firstReadable(behind damaged: SequenceNumber) throws(LogError) -> SequenceNumber? {
        guard let reader else { return nil }
        var unreadable = damaged
        var step: UInt64 = 1
        var found: Probe = .unreadable
        var candidate = damaged
        while step < 1 << 40 {
            let (next, overflow) = damaged.addingReportingOverflow(step)
            guard !overflow else { return nil }
            candidate = next
            found = try probe(candidate, reader)
            guard case .unreadable = found else { break }
            unreadable = candidate
            step *= 2
        }
        if case .unreadable = found { return nil }
        while candidate - unreadable > 1 {
            let middle = unreadable + (candidate - unreadable) / 2
            let result = try probe(middle, reader)
            if case .unreadable = result {
                unreadable = middle
            } else {
                (candidate, found) = (middle, result)
            }
        }
        if case .readable(let sequence) = found { return sequence }
        return nil
    }

    private func probe(_ sequence: SequenceNumber, _ reader: LogReader) throws(LogError) -> Probe {
        do throws(LogError) {
            guard let record = try reader.records(from: sequence).next() else { return .end }
            return .readable(record.sequence)
        } catch {
            switch error {
            case .damaged, .compacted: return .unreadable
            default: throw error
            }
        }
    }
}
