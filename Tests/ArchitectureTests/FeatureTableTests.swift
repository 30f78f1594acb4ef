import Foundation
import Testing

/// The table of `Docs/Features.md`, compared with the tests that it names.
@Suite struct FeatureTableTests {
    private struct Row: CustomTestStringConvertible {
        let id: String
        let status: String
        /// The path of the test, relative to `Docs`; empty if there is none.
        let test: String

        var testDescription: String { id }
    }

    private static func rows() throws -> [Row] {
        try PackageSources.text("Docs/Features.md").split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6, cells[1].wholeMatch(of: /[A-Z]{2}-[0-9]{2}/) != nil else { return nil }
            let link = cells[4].firstMatch(of: /\(([^)]+)\)/)
            return Row(id: cells[1], status: cells[3], test: link.map { String($0.1) } ?? "")
        }
    }

    @Test func `each feature occurs once, and is done, different by decision or impossible`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 90)
        #expect(Set(rows.map(\.id)).count == rows.count)
        for row in rows {
            let isDone = row.status == "*done*"
            let isImpossible = row.status.hasPrefix("*impossible*: ")
            let isDecided = row.status.hasPrefix("*different*: ") && row.status.contains("](Decisions/")
            #expect(isDone || isImpossible || isDecided, "\(row.id): \(row.status)")
        }
    }

    @Test func `a feature that is done names a test file that contains its ID`() throws {
        for row in try Self.rows() where row.status == "*done*" {
            try #require(row.test.hasPrefix("../Tests/"), "\(row.id)")
            let text = try PackageSources.text(String(row.test.dropFirst("../".count)))
            #expect(text.contains(row.id), "\(row.test) does not contain \(row.id)")
        }
    }
}
