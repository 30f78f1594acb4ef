internal import EDM
internal import Foundation
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import Views

/// The records and rows that a store wrote between two moments, to write them again without the engine: the limit for
/// every engine with this log and these tables.
///
/// The records are encoded, compressed and committed as the store does. The rows are written to a copy of the views by
/// the statements of the store, new ones in blocks, with bound values, table by table in ascending order. A row that was
/// written repeatedly is written once.
final class StoredWork {
    static let name = "the records and rows alone"

    /// A store before the work.
    struct Start {
        fileprivate let views: String
        fileprivate let nextSequence: UInt64

        /// Copies the views of a closed store.
        init(_ files: StoreFiles, in directory: Directory) throws {
            views = try directory.fresh("start-\(UUID().uuidString.prefix(8)).sqlite")
            try FileManager.default.copyItem(atPath: files.views, toPath: views)
            nextSequence = try LogReader(directory: files.log).nextSequence()
        }
    }

    private let start: Start
    private let directory: Directory
    private let reader: LogReader
    private let records: [Record]
    private let changes: [RowChanges]
    /// The copy of the views and the log of the current lap.
    private var rows: RowWriter?
    private var log: OperationLog?

    /// Reads the work of a closed store.
    init(from start: Start, to files: StoreFiles, in directory: Directory) throws {
        self.start = start
        self.directory = directory
        reader = try LogReader(directory: files.log)
        let decoder = RecordDecoder()
        var records: [Record] = []
        try reader.forEach(from: start.nextSequence) {
            records.append(try decoder.decode(kind: $0.kind, payload: $0.bytes))
        }
        self.records = records
        changes = try RowChanges.all(from: start.views, to: files.views)
    }

    deinit { log?.close() }

    /// Prepares a lap: a copy of the views before the work, and an empty log; none without a durability.
    func prepare(_ durability: OperationLog.Options.Durability? = nil) throws {
        rows = nil
        log?.close()
        log = nil
        let folder = try directory.fresh("records-and-rows")
        try Directory.create(folder)
        try FileManager.default.copyItem(atPath: start.views, toPath: folder + "/views.sqlite")
        rows = try RowWriter(folder + "/views.sqlite", changes)
        log = try durability.map {
            try BenchLog.open(folder + "/log", OperationLog.Options(durability: $0, layout: BenchLog.layout))
        }
    }

    enum Commits {
        /// One commit for all records.
        case together
        case each
    }

    /// Writes a part of the records, and the same part of the rows in one transaction.
    func write(_ commits: Commits, part: Int = 0, of parts: Int = 1) throws {
        if let log {
            var commit = Commit()
            var payload = ByteWriter(minimumCapacity: 256)
            for record in records[records.count * part / parts..<records.count * (part + 1) / parts] {
                payload.removeAll()
                let kind = RecordCodec.encode(record, into: &payload)
                try commit.add(kind: kind, payload: payload.bytes)
                guard commits == .each else { continue }
                try log.append(commit)
                commit.removeAll()
            }
            if !commit.isEmpty { try log.append(commit) }
        }
        try rows?.write(part: part, of: parts)
    }

    /// Reads the records from the log, without decoding them, and writes the rows.
    func rebuild() throws {
        let end = start.nextSequence + UInt64(records.count)
        try reader.forEach(from: start.nextSequence, through: end - 1) { _ in }
        try rows?.write()
    }
}
