import Foundation
import Testing

/// The tables of the article on errors, compared with the enumerations.
///
/// Features: EA-14.
@Suite struct ErrorTableTests {
    struct Table: CustomTestStringConvertible {
        /// The first cell of the table's head.
        let head: String
        let enumeration: String
        let file: String

        var testDescription: String { enumeration }
    }

    private static let tables = [
        Table(head: "code", enumeration: "Code", file: "OfflineStore/Errors/TidelogError.swift"),
        Table(head: "value", enumeration: "Code", file: "SyncCore/Validation/OperationRefused.swift"),
        Table(head: "`state`", enumeration: "RequestState", file: "OfflineStore/Queue/ErrorArchiveEntry.swift"),
        Table(head: "`errorClass`", enumeration: "ErrorClass", file: "OfflineStore/Queue/ErrorArchiveEntry.swift"),
    ]

    @Test(arguments: tables)
    func `the article has a row for each case`(_ table: Table) throws {
        let source = try String(
            contentsOf: Article.root.appending(path: "Sources/" + table.file), encoding: .utf8)
        let cases = Self.cases(of: table.enumeration, in: source)
        let article = try #require(try Article.catalogue().first { $0.name.hasSuffix("/Errors.md") })
        #expect(!cases.isEmpty)
        #expect(Self.names(in: article.text, head: table.head).sorted() == cases.sorted())
    }

    /// Returns the names of the cases that the source declares.
    private static func cases(of enumeration: String, in source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.contains("enum \(enumeration):") }) else { return [] }
        let indent = String(lines[start].prefix { $0 == " " })
        let body = lines[(start + 1)...].prefix { $0 != indent + "}" }
        return body.filter { $0.hasPrefix(indent + "    case ") }
            .map { String($0.dropFirst(indent.count + 9).prefix { $0.isLetter }) }
    }

    /// Returns the names in the first column of the table with this head.
    private static func names(in text: String, head: String) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(where: { $0.hasPrefix("| \(head) |") }) else { return [] }
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.flatMap { row in
            let cell = row.dropFirst().prefix { $0 != "|" }
            return cell.split(separator: ",").map { $0.filter(\.isLetter) }
        }
    }
}
