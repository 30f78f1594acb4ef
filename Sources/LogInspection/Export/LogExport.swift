import EDM
import ODataQuery
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncCore

/// A log as JSON lines, from which ``LogImport`` rebuilds a store with byte-identical records.
///
/// The first line describes the export:
///
///     {"tidelogExport":1,"storeIdentifier":"…","serviceRoot":"…","service":{…},"firstSequence":1,"complete":true}
///
/// `serviceRoot` and `service` are from `store.json`, and are omitted if it cannot be read. `complete` is false if
/// records before `firstSequence` are missing and no snapshot contains their state; then no store can be built from the
/// export.
///
/// The line of a record has the members that `tidelog log --json` prints, followed by `kindNumber` and `payload`, the
/// record's bytes in Base64. Only these two are used to rebuild the record. For a compacted log, the line of each
/// snapshot record has `snapshot` (the sequence number of the record that it precedes), `kindNumber` and `payload`.
///
/// The last line is `{"end":true,"lastSequence":…,"records":…,"checksum":"…"}`. The checksum is 64-bit FNV-1a over all
/// lines with a payload: the kind number as 8 bytes, least significant first, the payload, and a byte 0xFF. The
/// contents of streams are not exported.
public struct LogExport {
    static let version: Int64 = 1

    private let store: InspectedStore
    private let range: ExportRange

    /// Creates an export of the records in a range; by default of the whole log.
    public init(_ store: InspectedStore, range: ExportRange = ExportRange()) {
        self.store = store
        self.range = range
    }

    /// The result of an export.
    public struct Summary: Sendable, Hashable {
        /// The number of exported records.
        public var records: UInt64 = 0
        /// A Boolean value that indicates whether a store can be built from the export.
        public var isComplete = true
        /// A Boolean value that indicates whether the log is damaged. Lost records are exported as lost ones.
        public var isDamaged = false
        /// The number of unsent operations that write a stream. The export does not contain the stream files, and a
        /// store built from it cannot send these operations without them.
        public var missingStreams = 0
    }

    /// Calls `line` with each line, without its line end. It holds one record and its block in memory.
    ///
    /// - Throws: The errors of `line`, or a `TidelogError` from reading.
    public func writeLines(_ line: (String) throws -> Void) throws -> Summary {
        let (reader, isDamaged) = try store.soundReader()
        let passage = try range.passage(in: reader, place: store.files.log)
        var summary = Summary(isComplete: passage.isComplete, isDamaged: isDamaged)
        try line(header(passage))
        var checksum = FNV1a()
        var sets = EntitySets()
        var streams = StreamWrites()
        let decoder = RecordDecoder()
        do {
            try passage.forEach { piece in
                switch piece {
                case .record(let record):
                    summary.records += 1
                    checksum.add(record)
                    let item = HistoryItem(record, decoder, &sets)
                    if case .entry(let entry) = item { streams.add(entry.record.body, entry.sequence) }
                    try line(Self.line(item, record))
                case .snapshotItem(let kind, let payload):
                    checksum.add(kind, payload)
                    addSets(kind, payload, &sets)
                    streams.add(snapshotItem: kind, payload)
                    try line(Self.line(snapshot: passage.snapshot?.sequence ?? 0, kind, payload))
                }
            }
        } catch let error as LogError {
            throw TidelogError(error)
        }
        summary.missingStreams = streams.count
        var end = HistoryJSONWriter()
        end.object {
            $0.flag("end")
            $0.number("lastSequence", passage.last)
            $0.number("records", summary.records)
            $0.text("checksum", checksum.text)
        }
        try line(end.json.text)
        return summary
    }

    private func header(_ passage: LogExcerpt) -> String {
        let description = try? StoreDescription.read(store.files)
        var writer = HistoryJSONWriter()
        writer.object {
            $0.number("tidelogExport", Self.version)
            $0.text("storeIdentifier", passage.reader.storeIdentifier.description)
            $0.text("serviceRoot", description?.serviceRoot)
            if let service = description?.service {
                $0.json.name("service")
                $0.object { for (name, value) in service.named { $0.text(name, value) } }
            }
            $0.number("firstSequence", passage.first)
            $0.json.name("complete")
            $0.json.boolean(passage.isComplete)
        }
        return writer.json.text
    }

    /// Learns the sets of entities whose records were removed, for the summaries.
    private func addSets(_ kind: UInt8, _ payload: [UInt8], _ sets: inout EntitySets) {
        guard kind == SnapshotCodec.ItemKind.entity.rawValue,
            case .entity(let id, let set)? = try? SnapshotCodec.decode(.entity, payload: payload)
        else { return }
        sets.add(id, set)
    }

    private static func line(_ item: HistoryItem, _ record: LogRecord) -> String {
        var members = HistoryJSONWriter()
        members.object {
            // Two kinds of items already have the number.
            switch item {
            case .undecodable: break
            case .entry(let entry) where entry.kind == "unknown": break
            default: $0.number("kindNumber", record.kind)
            }
            $0.text("payload", Base64.encode(record.payload, .standard))
        }
        return item.json().dropLast() + "," + members.json.text.dropFirst()
    }

    private static func line(snapshot: SequenceNumber, _ kind: UInt8, _ payload: [UInt8]) -> String {
        var writer = HistoryJSONWriter()
        writer.object {
            $0.number("snapshot", snapshot)
            $0.number("kindNumber", kind)
            $0.text("payload", Base64.encode(payload, .standard))
        }
        return writer.json.text
    }
}

extension FNV1a {
    mutating func add(_ kind: UInt8, _ payload: [UInt8]) {
        add(UInt64(kind))
        add(payload)
    }

    mutating func add(_ record: LogRecord) { add(record.kind, record.payload) }

    var text: String { Self.text(value) }
}

extension HistoryItem {
    /// Creates an item for one record, including lost ones.
    init(_ record: LogRecord, _ decoder: RecordDecoder, _ sets: inout EntitySets) {
        do throws(CodecError) {
            let decoded = try decoder.decode(kind: record.kind, payload: record.bytes)
            if case .lost = decoded.body {
                self = .lost(record.sequence...record.sequence)
                return
            }
            sets.add(from: decoded.body)
            self = .entry(HistoryEntry(sequence: record.sequence, record: decoded, sets: sets))
        } catch {
            self = .undecodable(
                sequence: record.sequence, kind: record.kind, reason: RecordSummary.oneLine("\(error)", limit: 200))
        }
    }
}
