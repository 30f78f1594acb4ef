import EDM
import OfflineStore
import OperationLog
import Operations

/// A log as Chrome trace events (JSON), for Perfetto and chrome://tracing. Times are in microseconds since 1970; the
/// log has milliseconds.
///
/// There are three processes. *Entity sets* has a track for each set, with a slice of one millisecond for each
/// operation. *Batches* has a track for each batch, with a slice from its preparation to its response or interruption,
/// and the response as a slice at its end. *Downloads* has a track for each defining query, with a slice for each
/// download. An arrow leads from each operation to each batch that sent it, and on to the response.
///
/// Slices without an end extend to the log's last record and are marked `"open":true`.
public struct TraceExport {
    enum Process: Int, CaseIterable {
        case sets = 1
        case batches = 2
        case downloads = 3

        var name: String {
            switch self {
            case .sets: "Entity sets"
            case .batches: "Batches"
            case .downloads: "Downloads"
            }
        }
    }

    private let store: InspectedStore
    private let range: ExportRange

    /// Creates an export of the records in a range; by default of the whole log.
    public init(_ store: InspectedStore, range: ExportRange = ExportRange()) {
        self.store = store
        self.range = range
    }

    /// Calls `piece` with the parts of the document. It holds one record, the open slices and the set of each entity in
    /// memory.
    ///
    /// - Returns: Whether all records could be read.
    /// - Throws: A `TidelogError` if the log cannot be read, with the code `notFound` if a compaction has removed the
    ///   records of the range; the errors of `piece`.
    public func write(_ piece: @escaping (String) throws -> Void) throws -> Bool {
        do {
            let bounds = try store.bounds(of: range)
            var events = TraceEvents(write: piece)
            var isSound = true
            try events.begin()
            let items = store.history.items()
            while let item = try items.next() {
                switch item {
                case .damage, .undecodable: isSound = false
                case .entry(let entry), .carried(let entry, _, _):
                    if bounds.contains(entry.sequence) { try events.add(entry, items.sets) }
                case .lost, .compacted: break
                }
            }
            try events.end()
            return isSound
        } catch let error as LogError {
            throw TidelogError(error)
        }
    }
}

/// Converts records to events, in order.
private struct TraceEvents {
    typealias Process = TraceExport.Process

    /// The location of an operation, at which its arrow begins.
    private struct ArrowOrigin {
        let track: Int
        let time: Int64
    }

    private struct Open {
        let track: Int
        let time: Int64
        let operations: [SequenceNumber]
        let name: String
    }

    let write: (String) throws -> Void
    private var isFirst = true
    private var tracks: [Process: [String: Int]] = [:]
    private var places: [SequenceNumber: ArrowOrigin] = [:]
    private var batches: [BatchID: Open] = [:]
    private var downloads: [String: Open] = [:]
    private var last: Int64 = 0

    init(write: @escaping (String) throws -> Void) { self.write = write }

    mutating func begin() throws {
        try write(#"{"displayTimeUnit":"ms","traceEvents":["#)
        for process in Process.allCases {
            try emit { json in
                json.text("name", "process_name")
                json.text("ph", "M")
                json.number("pid", process.rawValue)
                json.json.name("args")
                json.object { $0.text("name", process.name) }
            }
        }
    }

    mutating func end() throws {
        for (batch, open) in batches.sorted(by: { $0.key < $1.key }) {
            try slice(.batches, open.track, "batch \(batch)", open.time, max(last, open.time), isOpen: true)
        }
        for (_, open) in downloads.sorted(by: { $0.key < $1.key }) {
            try slice(.downloads, open.track, open.name, open.time, max(last, open.time), isOpen: true)
        }
        try write("]}\n")
    }

    mutating func add(_ entry: HistoryEntry, _ sets: EntitySets) throws {
        guard let milliseconds = entry.time,
            case (let time, false) = milliseconds.multipliedReportingOverflow(by: 1000), time.magnitude < 1 << 60
        else { return }
        last = max(last, time)
        switch entry.record.body {
        case .operation(let operation):
            let track = try track(.sets, sets.set(of: operation.subject) ?? "(set unknown)")
            places[entry.sequence] = ArrowOrigin(track: track, time: time)
            try slice(
                .sets, track, operation.actionName, time, time, sequence: entry.sequence, summary: entry.summary)
        case .batchPrepared(let prepared): try prepare(prepared, time)
        case .batchAnswered(let answered): try close(answered.batch, "answered", time, entry, answered)
        case .batchInterrupted(let interrupted): try close(interrupted.batch, "interrupted", time, entry, nil)
        case .downloadStarted(let starts):
            for start in starts {
                downloads[start.query] = Open(
                    track: try track(.downloads, start.query), time: time, operations: [],
                    name: "\(start.query) (\(start.mode))")
            }
        case .downloadFinished(let finished):
            guard let open = downloads.removeValue(forKey: finished.query) else { return }
            try slice(.downloads, open.track, open.name, open.time, max(time, open.time))
        default: break
        }
    }

    private mutating func prepare(_ prepared: BatchPrepared, _ time: Int64) throws {
        let track = try track(.batches, "batch \(prepared.batch)")
        batches[prepared.batch] = Open(
            track: track, time: time, operations: prepared.operations, name: "batch \(prepared.batch)")
        for operation in prepared.operations {
            guard let place = places[operation] else { continue }
            try flow("s", operation, prepared.batch, .sets, place.track, place.time)
            try flow("t", operation, prepared.batch, .batches, track, time)
        }
    }

    private mutating func close(
        _ batch: BatchID, _ name: String, _ time: Int64, _ entry: HistoryEntry, _ answered: BatchAnswered?
    ) throws {
        guard let open = batches.removeValue(forKey: batch) else { return }
        let end = max(time, open.time)
        try slice(.batches, open.track, open.name, open.time, end)
        try slice(.batches, open.track, name, end, end, sequence: entry.sequence, summary: entry.summary)
        for operation in open.operations where places[operation] != nil {
            try flow("f", operation, batch, .batches, open.track, end)
        }
        for outcome in answered?.outcomes ?? [] {
            if case .confirmed = outcome.result { places[outcome.operation] = nil }
        }
    }

    private mutating func track(_ process: Process, _ name: String) throws -> Int {
        if let track = tracks[process]?[name] { return track }
        let track = (tracks[process]?.count ?? 0) + 1
        tracks[process, default: [:]][name] = track
        try emit { json in
            json.text("name", "thread_name")
            json.text("ph", "M")
            json.number("pid", process.rawValue)
            json.number("tid", track)
            json.json.name("args")
            json.object { $0.text("name", name) }
        }
        return track
    }

    /// Writes a slice. It ends a millisecond after its last event, so that no slice is empty and slices do not overlap
    /// partially.
    private mutating func slice(
        _ process: Process, _ track: Int, _ name: String, _ start: Int64, _ end: Int64,
        sequence: SequenceNumber? = nil, summary: String? = nil, isOpen: Bool = false
    ) throws {
        try emit { json in
            json.text("name", name)
            json.text("cat", process.name)
            json.text("ph", "X")
            json.number("ts", start)
            json.number("dur", end - start + 1000)
            json.number("pid", process.rawValue)
            json.number("tid", track)
            json.json.name("args")
            json.object {
                if let sequence { $0.number("sequence", sequence) }
                $0.text("summary", summary)
                if isOpen { $0.flag("open") }
            }
        }
    }

    private mutating func flow(
        _ phase: String, _ operation: SequenceNumber, _ batch: BatchID, _ process: Process, _ track: Int,
        _ time: Int64
    ) throws {
        try emit { json in
            json.text("name", "sent")
            json.text("cat", "operation")
            json.text("ph", phase)
            json.text("id", "\(operation).\(batch)")
            json.number("ts", time)
            json.number("pid", process.rawValue)
            json.number("tid", track)
            if phase == "f" { json.text("bp", "e") }
        }
    }

    private mutating func emit(_ members: (inout HistoryJSONWriter) -> Void) throws {
        var json = HistoryJSONWriter()
        json.object(members)
        try write((isFirst ? "\n" : ",\n") + json.json.text)
        isFirst = false
    }
}
