import EDM
import OfflineStore
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import LogInspection

@Suite struct ExportTests {
    private static let key = LogKey([UInt8](repeating: 7, count: LogKey.byteCount))

    private func service() -> Record.Body {
        .serviceInstalled(ServiceDescription(root: "https://example.org/", metadata: Array("<x/>".utf8)))
    }

    /// Returns a store with many kinds of records.
    private func sample() throws -> SampleLog {
        let log = try SampleLog(segmentSize: 2_048, runSize: 512)
        try log.append(service())
        for number in 2...60 { try log.append(create(UInt64(number), "Orders", ["Note": .string("n\(number)\n")])) }
        try log.append(
            prepared(1, 2, 3), answered(1, (2, .confirmed(images: [])), (3, .rejected(refusal("=no, \"never\"")))))
        try log.append(.unknown(kind: 200, payload: [1, 2, 3]), .lost)
        return log
    }

    private func inspected(_ log: SampleLog) -> InspectedStore { InspectedStore(directory: log.directory.path) }

    private func lines(_ store: InspectedStore, _ range: ExportRange = ExportRange()) throws -> [String] {
        var lines: [String] = []
        _ = try LogExport(store, range: range).writeLines { lines.append($0) }
        return lines
    }

    private func imported(_ lines: [String], to directory: String, keys: [LogKey] = []) throws -> [LogRecord] {
        let target = try LogImport(to: directory, keys: keys)
        for line in lines { try target.add(line: Array(line.utf8)) }
        _ = try target.finish()
        return try records(directory, keys: keys)
    }

    private func records(_ directory: String, keys: [LogKey] = []) throws -> [LogRecord] {
        var records: [LogRecord] = []
        try LogReader(directory: directory + "/log", keys: keys).forEach { records.append($0) }
        return records
    }

    @Test func `a log imported from an export has the same records and the same export`() throws {
        let log = try sample()
        let lines = try lines(inspected(log))
        let directory = log.directory.path + "/copy"
        let copied = try imported(lines, to: directory)
        #expect(copied == (try records(log.directory.path)))
        #expect(try self.lines(InspectedStore(directory: directory)).dropFirst() == lines.dropFirst())
        let verified = try InspectedStore(directory: directory).history.verify()
        #expect(verified.isSound && verified.records == UInt64(copied.count))
    }

    @Test func `the export of a compacted log contains the necessary snapshot at its position`() throws {
        let log = try sample()
        let items = (0..<300).map { (number: Int) -> (UInt8, [UInt8]) in (4, [UInt8(number & 255), 1, 2]) }
        _ = try log.log.writeSnapshot { writer in for item in items { try writer.add(kind: item.0, payload: item.1) } }
        try log.append(service(), create(99, "Orders"))
        try log.log.compact(keepingFrom: .max)
        let directory = log.directory.path + "/copy"
        #expect(try imported(try lines(inspected(log)), to: directory) == (try records(log.directory.path)))
        let reader = try LogReader(directory: directory + "/log")
        let snapshot = try #require(try reader.snapshots().first)
        #expect(snapshot.sequence == 65)
        let cursor = try reader.snapshot(snapshot)
        var found: [[UInt8]] = []
        while let item = try cursor.next() { found.append(Array(item.bytes)) }
        #expect(found == items.map(\.1))
        #expect(try InspectedStore(directory: directory).history.verify().isSound)
    }

    @Test func `a range that ends before the remaining records of a compacted log is refused`() throws {
        let log = try sample()
        _ = try log.log.writeSnapshot { try $0.add(kind: 4, payload: [1]) }
        try log.append(create(99, "Orders"))
        try log.log.compact(keepingFrom: .max)
        #expect(try lines(inspected(log), ExportRange(to: .sequence(64))).count > 2)
        let range = ExportRange(to: .sequence(63))
        let error = #expect(throws: TidelogError.self) { try lines(inspected(log), range) }
        #expect(error?.code == .notFound)
        #expect(error?.message == "A compaction removed the states of the store before operation 65.")
        #expect(throws: TidelogError.self) { try CSVExport(inspected(log), range: range).writeRows { _ in } }
    }

    @Test func `a range without records exports nothing`() throws {
        let log = try sample()
        let store = inspected(log)
        let range = ExportRange(from: .sequence(10), to: .sequence(7))
        #expect(try lines(store, range).count == 2)
        var rows = 0
        #expect(try CSVExport(store, range: range).writeRows { _ in rows += 1 })
        #expect(rows == 1)
        var text = ""
        #expect(try TraceExport(store, range: range).write { text += $0 })
        #expect(!text.contains("sequence"))
    }

    @Test func `the table, trace and report of a compacted log use the sets of its snapshot`() async throws {
        let log = try SampleLog()
        try log.append(create(7, "Orders"))
        let state = WorkingSet()
        try state.setHeader(StateHeader(applied: 1))
        try state.register(id(7), set: "Orders")
        _ = try log.log.writeSnapshot { writer in
            try Fold(storage: state).writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        try log.append(.operation(Operation(.update(id(7), changes: [:], bindings: []))))
        try log.log.compact(keepingFrom: .max)
        let store = inspected(log)
        var text = ""
        _ = try CSVExport(store).writeRows { text += $0 }
        #expect(text.contains(",update,Orders(~7),"))
        text = ""
        _ = try TraceExport(store).write { text += $0 }
        #expect(text.contains(#""args":{"name":"Orders"}"#) && !text.contains("(set unknown)"))
        let reading = ReportCollector(store, at: nil, limits: .init(), isRedacted: false, isDamaged: false)
        #expect(try await reading.content().entities.map(\.set) == ["Orders"])
    }

    @Test func `an import with a key creates an encrypted store with the same export`() throws {
        let key = try #require(Self.key)
        let log = try sample()
        let directory = log.directory.path + "/copy"
        _ = try imported(try lines(inspected(log)), to: directory, keys: [key])
        let encrypted = InspectedStore(directory: directory, keys: [key])
        #expect(encrypted.isEncrypted && !inspected(log).isEncrypted)
        #expect(try lines(encrypted).dropFirst() == lines(inspected(log)).dropFirst())
        for path in TemporaryDirectory.files(directory + "/log") {
            #expect(TemporaryDirectory.read(path)?.contains(Array("Orders".utf8)) == false)
        }
    }

    @Test func `a log whose later part is encrypted counts as encrypted`() throws {
        let log = try SampleLog()
        try log.append(service())
        log.log.close()
        #expect(!inspected(log).isEncrypted)
        let options = OperationLog.Options(durability: .none, keys: [try #require(Self.key)])
        let later = try OperationLog.open(directory: log.path, options: options).log
        _ = try later.append([RecordCodec.encode(Record(time: SampleLog.time, body: create(2, "Orders")))])
        later.close()
        #expect(inspected(log).isEncrypted)
    }

    @Test func `exports and imports count the operations whose streams are missing`() throws {
        let log = try SampleLog()
        let content = StreamContent(
            digest: try #require(StreamDigest([UInt8](repeating: 1, count: 32))), byteCount: 5, mediaType: "text/plain")
        func write(_ content: StreamContent?) -> Record.Body {
            .operation(
                Operation(
                    .update(id(1), changes: [:], bindings: []), stream: StreamWrite(property: "P", content: content)))
        }
        try log.append(service(), write(content), write(content), write(content), write(nil), create(2, "Orders"))
        try log.append(prepared(1, 2), answered(1, (2, .confirmed(images: []))), .operationsUndone([3]))
        let store = inspected(log)
        var lines: [String] = []
        let summary = try LogExport(store).writeLines { lines.append($0) }
        #expect(summary.missingStreams == 2)
        #expect(try LogExport(store, range: ExportRange(to: .sequence(7))).writeLines { _ in }.missingStreams == 3)
        let target = try LogImport(to: log.directory.path + "/copy")
        for line in lines { try target.add(line: Array(line.utf8)) }
        #expect(try target.finish().missingStreams == 2)
    }

    @Test func `any part of a log can be exported, and only a part from the beginning can be imported`() throws {
        let log = try sample()
        let store = inspected(log)
        let prefix = try lines(store, ExportRange(to: .sequence(10)))
        #expect(prefix.count == 12)
        #expect(try imported(prefix, to: log.directory.path + "/a").map(\.sequence) == Array(1...10))
        let middle = try lines(store, ExportRange(from: .sequence(5), to: .sequence(7)))
        #expect(middle.count == 5)
        let error = #expect(throws: TidelogError.self) {
            try imported(middle, to: log.directory.path + "/b")
        }
        #expect(
            error?.message
                == "The export begins with operation 5 and does not contain the state before it.")
        #expect(TemporaryDirectory.files(log.directory.path).allSatisfy { !$0.contains("/b") })
    }

    @Test func `the readable records of a damaged log are exported, and the others as lost`() throws {
        let log = try sample()
        log.log.close()
        let first = try #require(TemporaryDirectory.read(log.segment(1)))
        try log.damage(log.segment(1), at: first.count / 2)
        var lines: [String] = []
        let summary = try LogExport(inspected(log)).writeLines { lines.append($0) }
        #expect(summary.isDamaged && summary.isComplete)
        let copied = try imported(lines, to: log.directory.path + "/copy")
        #expect(copied.map(\.sequence) == Array(1...64))
        #expect(copied.contains { $0.kind == LogRepair.lostKind && $0.sequence < 60 })
    }

    @Test(arguments: [
        (2, "{", "Line 2 of the export is not JSON"), (2, "[]", "Line 2 of the export is not an object"),
        (1, "{}", "Line 1 of the export is not the first one of an export"),
        (1, #"{"tidelogExport":9}"#, "Line 1 of the export has format version 9"),
        (
            1, #"{"tidelogExport":1,"storeIdentifier":"x","firstSequence":1}"#,
            "Line 1 of the export has no store identifier"
        ),
        (3, #"{"sequence":2,"kindNumber":2}"#, "Line 3 of the export has no kind number"),
        (3, #"{"sequence":2,"kindNumber":2,"payload":"?"}"#, "Line 3 of the export has no kind number"),
        (3, #"{"sequence":2,"kindNumber":999,"payload":""}"#, "Line 3 of the export has no kind number"),
        (3, #"{"sequence":3,"kindNumber":2,"payload":""}"#, "Line 3 of the export is not operation 2"),
        (3, #"{"sequence":-3,"kindNumber":2,"payload":""}"#, "Line 3 of the export is not operation 2"),
        (3, #"{"sequence":2,"kindNumber":2,"payload":"AA=="}"#, "Line 3 of the export has bytes that are not a record"),
        (66, #"{"end":true,"lastSequence":64,"records":64}"#, "Line 66 of the export does not match the records"),
        (66, "", "Line 67 of the export is missing"),
    ])
    func `an invalid line is reported by its number, and no file remains`(
        number: Int, text: String, message: String
    ) throws {
        let log = try sample()
        var lines = try lines(inspected(log))
        #expect(lines.count == 66)
        lines[number - 1] = text
        let error = #expect(throws: TidelogError.self) {
            try imported(lines, to: log.directory.path + "/copy")
        }
        #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
        #expect(TemporaryDirectory.files(log.directory.path).allSatisfy { !$0.contains("/copy") })
    }

    @Test func `an existing directory is refused`() throws {
        let log = try sample()
        let error = #expect(throws: TidelogError.self) { try LogImport(to: log.directory.path) }
        #expect(error?.message == "The directory already exists.")
    }

    // MARK: CSV

    @Test func `a table has one row for each record and no cell that a spreadsheet treats as a formula`() throws {
        let log = try SampleLog()
        try log.append(
            .definingQueryRemoved(name: "x"), create(1, "=Orders", ["N": .string("a,\"b\"")]), prepared(1, 2),
            answered(1, (2, .rejected(refusal("=cmd|' /C calc'!A0\r\n")))))
        var text = ""
        #expect(try CSVExport(inspected(log)).writeRows { text += $0 })
        #expect(
            text == """
                sequence,time,kind,fate,action,entities,batch,operations,status,code,message,summary\r
                1,2026-11-21T07:59:57.120Z,definingQueryRemoved,,,,,,,,,query x removed\r
                2,2026-11-21T07:59:57.120Z,operation,rejected,create,'=Orders(~1),,,,,,"create =Orders(~1) N='a,""b""'"\r
                3,2026-11-21T07:59:57.120Z,batchPrepared,,,,1,2,,,,batch 1 prepared: 1 operation in 1 change set\r
                4,2026-11-21T07:59:57.120Z,batchAnswered,,,,1,2,409,Conflict,"'=cmd|' /C calc'!A0\r
                ",batch 1 answered: 1 rejected (409 =cmd|' /C calc'!A0\\u{d}\\u{a})\r

                """)
    }

    @Test(arguments: ["=1", "+1", "-1", "@SUM", "\t=1", "\r=1", "\n=1"])
    func `a cell that could be a formula starts with an apostrophe`(text: String) throws {
        let log = try SampleLog()
        try log.append(create(1, text), prepared(1, 1), answered(1, (1, .rejected(refusal(text)))))
        var rows: [String] = []
        _ = try CSVExport(inspected(log)).writeRows { rows.append($0) }
        let quotes = text.contains { $0.isNewline } ? "\"" : ""
        #expect(rows[3].contains(",Conflict,\(quotes)'\(text)\(quotes),batch"))
    }

    // MARK: Trace

    /// Checks the requirements of the Trace Event Format on events.
    private func check(_ events: [JSONValue]) throws {
        var starts: [String: (time: Int64, parts: [String])] = [:]
        for event in events {
            let phase = try #require(event["ph"]?.string)
            #expect(event["name"]?.string?.isEmpty == false)
            #expect(event["pid"]?.integer != nil)
            switch phase {
            case "M": #expect(event["args"]?["name"]?.string != nil)
            case "X":
                #expect(try #require(event["ts"]?.integer) > 0 && (event["dur"]?.integer ?? 0) > 0)
                #expect(event["tid"]?.integer != nil)
            case "s", "t", "f":
                let id = try #require(event["id"]?.string)
                let time = try #require(event["ts"]?.integer)
                let before = starts[id]
                #expect(phase == "s" ? before == nil : before.map { $0.time <= time } == true)
                starts[id] = (time, (before?.parts ?? []) + [phase])
                // An arrow starts, continues and ends in a slice.
                #expect(
                    events.contains {
                        $0["ph"]?.string == "X" && $0["pid"] == event["pid"] && $0["tid"] == event["tid"]
                            && ($0["ts"]?.integer ?? .max) <= time
                            && ($0["ts"]?.integer ?? 0) + ($0["dur"]?.integer ?? 0) >= time
                    })
            default: Issue.record("phase \(phase)")
            }
        }
        for (id, flow) in starts { #expect(flow.parts.joined() == "stf" || flow.parts.joined() == "st", "\(id)") }
    }

    @Test func `a trace conforms to its format, with arrows from operations to batches and responses`() throws {
        let log = try sample()
        try log.append(
            .downloadStarted(queries: ["O"]), prepared(2, 4, 3), .downloadFinished(query: "O"), prepared(3, 5),
            .batchInterrupted(BatchInterrupted(batch: 2, reason: "x")))
        var text = ""
        _ = try TraceExport(inspected(log)).write { text += $0 }
        let trace = try JSONValue.parse(Array(text.utf8))
        let events = try #require(trace["traceEvents"]?.array)
        try check(events)
        func names(_ process: Int64) -> [String] {
            events.compactMap {
                $0["pid"]?.integer == process && $0["name"]?.string == "thread_name" ? $0["args"]?["name"]?.string : nil
            }
        }
        #expect(names(1) == ["Orders"])
        #expect(names(2) == ["batch 1", "batch 2", "batch 3"])
        #expect(names(3) == ["O"])
        let flows = events.filter { ["s", "t", "f"].contains($0["ph"]?.string) }.map {
            ($0["id"]?.string ?? "") + ($0["ph"]?.string ?? "")
        }
        #expect(
            flows == [
                "2.1s", "2.1t", "3.1s", "3.1t", "2.1f", "3.1f", "4.2s", "4.2t", "3.2s", "3.2t", "5.3s", "5.3t", "4.2f",
                "3.2f",
            ])
        // The third batch has no response.
        #expect(events.last?["args"]?["open"] == .boolean(true))
    }
}
