import DiskSimulation
import Testing

@testable import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Comparison of `Docs/LogFormat.md` with the code.
@Suite struct LogFormatDocumentTests {
    private let lines: [Substring]

    init() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let file = try PosixFileSystem().open(root + "/Docs/LogFormat.md", .read)
        let text = String(decoding: try file.read(at: 0, count: Int(try file.size())), as: UTF8.self)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the cells of the first table below the heading, without the header row.
    private func table(_ heading: String) throws -> [[String]] {
        let start = try #require(lines.firstIndex(of: "### " + heading), "no section \(heading)")
        let rows = lines[start...].dropFirst().drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return rows.dropFirst(2).map { row in
            row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { cell in
                var cell = cell
                while cell.first == " " { cell.removeFirst() }
                while cell.last == " " { cell.removeLast() }
                return String(cell)
            }
        }
    }

    @Test(arguments: [
        ("Segment header", SegmentHeader.Layout.all, SegmentHeader.Layout.byteCount),
        ("Encrypted segment header", SegmentHeader.EncryptedLayout.all, SegmentHeader.EncryptedLayout.byteCount),
        ("Block header", BlockHeader.Layout.all, BlockHeader.Layout.byteCount),
        ("Footer", SegmentFooter.Layout.all, SegmentFooter.Layout.byteCount),
        ("Footer entry", SegmentFooter.Entry.Layout.all, SegmentFooter.Entry.Layout.byteCount),
        ("Trailer", SegmentTrailer.Layout.all, SegmentTrailer.Layout.byteCount),
        ("End slot", EndSlots.Layout.all, EndSlots.Layout.byteCount),
    ])
    func `the table of each structure lists its fields, offsets and sizes`(
        heading: String, fields: [FieldLayout], size: Int
    ) throws {
        let reported = try table(heading).map { row in
            FieldLayout(row[2], try #require(Int(row[0])), try #require(Int(row[1])))
        }
        #expect(reported == fields)
        // The fields have no gaps and do not overlap.
        var end = 0
        for field in fields {
            #expect(field.offset == end, "\(field.name)")
            end += field.size
        }
        #expect(end == size)
    }

    @Test(arguments: [
        ("Block types", [("records", Int(BlockType.records)), ("footer", Int(BlockType.footer))]),
        (
            "Methods",
            [
                ("stored", Int(BlockMethod.stored)), ("zstd run", Int(BlockMethod.zstdRun)),
                ("zstd columns", Int(BlockMethod.zstdColumns)),
            ]
        ),
        (
            "Step endings",
            [ColumnForm.Ending.end, .number, .text, .fixed, .rest].map { ("\($0)", Int($0.rawValue)) }
        ),
        ("Number modes", [ColumnForm.NumberMode.plain, .differences].map { ("\($0)", Int($0.rawValue)) }),
        (
            "Segment flags",
            [
                ("begins log", SegmentHeader.beginsLog.trailingZeroBitCount),
                ("snapshot", SegmentHeader.snapshot.trailingZeroBitCount),
            ]
        ),
        (
            "Block flags",
            [
                ("starts run", BlockFlags.startsRun.rawValue.trailingZeroBitCount),
                ("commit continues", BlockFlags.commitContinues.rawValue.trailingZeroBitCount),
                ("predecessors durable", BlockFlags.predecessorsDurable.rawValue.trailingZeroBitCount),
            ]
        ),
    ])
    func `the tables list the name of each value`(heading: String, values: [(String, Int)]) throws {
        let reported = try table(heading)
        #expect(reported.map { $0[0] } == values.map { String($0.1) })
        #expect(reported.map { $0[1] } == values.map(\.0))
    }

    @Test func `the table lists the limits of the code`() throws {
        let reported = try table("Limits").map { $0[0] + " " + $0[1] }
        #expect(
            reported == [
                "maximum block raw \(LogFormat.maximumBlockRaw)",
                "maximum block stored \(LogFormat.maximumBlockStored)",
                "maximum payload \(LogFormat.maximumPayload)",
                "target block raw \(LogFormat.targetBlockRaw)",
                "window log \(LogFormat.windowLog)",
                "segment name digits \(SegmentName.digits)",
            ])
        for row in try table("Block header") where row[2] == "raw length" {
            #expect(row[4] == "to \(LogFormat.maximumBlockRaw)")
        }
        for row in try table("Block header") where row[2] == "stored length" {
            #expect(row[4] == "to \(LogFormat.maximumBlockStored)")
        }
    }

    @Test func `the code writes the bytes of the example`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(compression: .stored)).log
        try log.append([(kind: 1, payload: Array("hi".utf8)), (kind: 2, payload: Array("tide".utf8))])
        let written = hexDump(disk[Sample.segment(1)])
        let start = try #require(lines.firstIndex(of: "```hex"))
        let reported = lines[start...].dropFirst().prefix { $0 != "```" }
        #expect(reported.joined(separator: "\n") == written)
    }

    @Test func `the code writes and reads the example of columns`() throws {
        let heading = try #require(lines.firstIndex(of: "### Number modes"))
        let reported = lines[heading...].drop { $0 != "```text" }.dropFirst().prefix(2).map { line in
            line.split(separator: " ").dropFirst().compactMap { UInt8($0, radix: 16) }
        }
        try #require(reported.count == 2)
        var encoder = ColumnEncoder(
            RecordLayout { _, payload, fields in
                fields = [RecordField(.number, 4..<6), RecordField(.text, 10..<payload.count)]
            })
        let form = encoder.encode(reported[0], recordCount: 3)
        #expect(form == reported[1])
        var decoder = ColumnDecoder()
        #expect(decoder.decode(reported[1], recordCount: 3, rawLength: reported[0].count) == reported[0])
    }

    @Test func `the encrypted example decrypts to the records that its text describes`() throws {
        let heading = try #require(lines.firstIndex(of: "## Encryption"))
        let start = try #require(lines[heading...].firstIndex(of: "```text"))
        let reported = lines[start...].dropFirst().prefix { $0 != "```" }
        let disk = SimulatedDisk(directories: ["/store", Sample.directory])
        disk[Sample.segment(1)] = reported.flatMap { line in
            line.split(separator: " ").dropFirst().compactMap { UInt8($0, radix: 16) }
        }
        let records = try Sample.read(disk, keys: [Sample.key])
        #expect(records.map(\.kind) == [1, 2])
        #expect(records.map(\.payload) == [Array("hi".utf8), Array("tide".utf8)])
    }

    private func hexDump(_ bytes: [UInt8]) -> String {
        func hex(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            return hex(start, 4) + "  " + line.map { hex(Int($0), 2) }.joined(separator: " ")
        }.joined(separator: "\n")
    }
}
