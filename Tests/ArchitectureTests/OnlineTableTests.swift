import Foundation
import Testing

/// The tables of the page on calls online and offline.
@Suite struct OnlineTableTests {
    struct Row: CustomTestStringConvertible {
        let call: String
        /// The cells for a store, and for a service in V4 and V2.
        let cells: [String]
        /// The test, in the form `suite: test`.
        let test: String

        var testDescription: String { call }
    }

    private static func rows() throws -> [Row] {
        try PackageSources.text("Docs/OnlineAndOffline.md").split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| "), !line.hasPrefix("| call ") else { return nil }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 5 else { return Row(call: String(line), cells: [], test: "") }
            return Row(call: cells[0], cells: Array(cells[1...3]), test: cells[4])
        }
    }

    @Test func `each row names a test that exists`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 50)
        let files = try PackageSources.swiftFiles("Tests")
        for row in rows {
            let parts = row.test.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let sources = try files.filter { $0.hasSuffix("/\(parts.first ?? "").swift") }.map(PackageSources.text)
            #expect(
                sources.contains { $0.contains("func `\(parts.last ?? "")`") }, "\(row.call): \(row.test)")
        }
    }

    @Test func `each call works, or the row names the clause or the missing store`() throws {
        let clause = /\(.*(?:4\.01 Part [12], \d+(?:\.\d+)+|MS-ODATA \d+(?:\.\d+)+|no store).*\)/
        for row in try Self.rows() {
            #expect(row.cells.count == 3, "\(row.call)")
            for (column, cell) in row.cells.enumerated() where cell != "yes" && !cell.hasPrefix("yes, ") {
                // The first column is about a store, to which the standard does not apply.
                let isExplained = column == 0 || cell.firstMatch(of: clause) != nil
                #expect(cell.hasPrefix("no: ") && isExplained, "\(row.call): \(cell)")
            }
        }
    }

    @Test func `each error of the online provider that is unsupported names the clause`() throws {
        let clause = /OData 4\.01 Part [12], section \d+(?:\.\d+)+|MS-ODATA,? (?:section )?\d+(?:\.\d+)+/
        for file in try PackageSources.swiftFiles("Sources/Tidelog/Online") {
            let pieces = try PackageSources.text(file).split(separator: ".unsupported,").dropFirst()
            for piece in pieces where !piece.hasPrefix(" message") {
                #expect(piece.prefix(600).firstMatch(of: clause) != nil, "\(file): \(piece.prefix(80))")
            }
        }
    }
}
