import EDM
import Foundation
import Testing

@testable import Operations
@testable import SyncCore

/// Comparison of `Docs/RecordFormat.md` with the code.
@Suite struct RecordFormatDocumentTests {
    private let lines: [Substring]

    init() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        lines = try String(contentsOfFile: root + "/Docs/RecordFormat.md", encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the first cells of the first table below the heading, without the header row.
    private func table(_ heading: String, cells: Int) throws -> [[String]] {
        let start = try #require(lines.firstIndex(of: "### " + heading), "no section \(heading)")
        let rows = lines[start...].dropFirst().drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
        return rows.dropFirst(2).map { row in
            row.split(separator: "|").prefix(cells).map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    private func fields<Field: CaseIterable & RawRepresentable<UInt8>>(_: Field.Type) -> [[String]] {
        Field.allCases.map { ["\(Field.self)", "\($0)", "\($0.rawValue)"] }
    }

    @Test func `the tables list the kinds of records, of items and of values`() throws {
        #expect(
            try table("Record kinds", cells: 2) == RecordCodec.RecordKind.allCases.map { ["\($0.rawValue)", "\($0)"] })
        #expect(
            try table("Item kinds", cells: 2) == SnapshotCodec.ItemKind.allCases.map { ["\($0.rawValue)", "\($0)"] })
        #expect(try table("Values", cells: 2).map { $0[0] } == (0...18).map(String.init))
        #expect(ValueTag(rawValue: 19) == nil)
        for row in try table("Values", cells: 2) {
            let tag = try #require(ValueTag(rawValue: UInt8(row[0]) ?? .max))
            #expect("\(tag)" == row[1])
        }
        #expect(lines.contains { $0.contains("records of kind \(SnapshotCodec.pieceKind)") })
    }

    @Test func `the tables list the optional fields with their tags`() throws {
        let records = [
            fields(OperationField.self), fields(CreationField.self), fields(CallField.self),
            fields(StreamWriteField.self), fields(StreamContentField.self), fields(StreamImageField.self),
            fields(ReportedStreamField.self), fields(DefiningQueryField.self), fields(QueryStartField.self),
            fields(PageField.self), fields(DownloadFinishedField.self), fields(QuarantineField.self),
            fields(ImageField.self), fields(BatchField.self), fields(RequestField.self), fields(RefusalField.self),
        ]
        let items = [
            fields(HeaderField.self), fields(QueryField.self), fields(RowField.self), fields(QueuedField.self),
            fields(OpenBatchField.self), fields(EventField.self),
        ]
        #expect(try table("Fields of records", cells: 3) == records.flatMap { $0 })
        #expect(try table("Fields of items", cells: 3) == items.flatMap { $0 })
        // The fields of a structure have the numbers 1, 2, … in the upper six bits.
        for structure in records + items {
            let tags = structure.compactMap { UInt8($0[2]) }
            #expect(tags.map { Int($0 >> 2) } == Array(1...tags.count), "\(structure[0][0])")
            #expect(tags.allSatisfy { !FieldTag.mayBeIgnored($0) }, "\(structure[0][0])")
        }
    }
}
