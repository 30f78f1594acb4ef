import Foundation
import Testing

/// The numbers, titles, status lines and links of the decision records in `Docs/Decisions`.
@Suite struct DecisionTests {
    private struct Record {
        /// The file's name without its extension.
        let name: String
        let number: String
        let lines: [String]

        /// The title, or `nil` if the first line does not have the form `# 0078: Title`.
        var title: String? {
            guard let found = lines.first?.wholeMatch(of: /# (\d{4}): (.+)/), String(found.1) == number else {
                return nil
            }
            return String(found.2)
        }
    }

    private static let folder = "Docs/Decisions"

    private let records: [Record]
    private let index: String

    init() throws {
        let files = try FileManager.default.contentsOfDirectory(
            atPath: PackageSources.root.appending(path: Self.folder).path)
        index = try PackageSources.text("\(Self.folder)/README.md")
        records = try files.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map { file in
            let text = try PackageSources.text("\(Self.folder)/\(file)")
            return Record(
                name: String(file.dropLast(3)), number: String(file.prefix(4)),
                lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    /// Returns a title in lowercase letters and digits, with a hyphen between words. Punctuation within a word is
    /// omitted ("OData's" becomes "odatas").
    private static func slug(_ title: String) -> String {
        let plain = title.lowercased().folding(options: .diacriticInsensitive, locale: nil)
            .replacing(/['.,;:]/, with: "")
        return plain.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber)) }).joined(separator: "-")
    }

    @Test func `each number below the highest has one record, except for those that the index explains`() throws {
        let numbers = records.compactMap { Int($0.number) }
        #expect(numbers.count == records.count && Set(numbers).count == numbers.count)
        let sentence = try #require(index.firstMatch(of: /Numbers are never reused\. ([0-9, and]+) do not exist/))
        let explained = Set(sentence.1.matches(of: /\d{4}/).compactMap { Int($0.output) })
        for number in 1...(numbers.max() ?? 1) {
            #expect(numbers.contains(number) != explained.contains(number), "record \(number)")
        }
    }

    @Test func `a title has at most eight words, and its slug is the name of the file`() {
        for record in records {
            guard let title = record.title else {
                Issue.record("\(record.name) has no title with its number")
                continue
            }
            #expect(title.split(separator: " ").count <= 8, "\(record.name)")
            #expect("\(record.number)-\(Self.slug(title))" == record.name)
        }
    }

    @Test func `the index contains each record with its title`() {
        for record in records {
            #expect(index.contains("- [\(record.number): \(record.title ?? "")](\(record.name).md)"), "\(record.name)")
        }
    }

    @Test func `each record has a status line, and names the records that it changes and that change it`() throws {
        let form =
            /Status: accepted\.(?: Superseded in part by \[[^.]+\.md\).*?\.)?(?: Amended by \[[^.]+\.md\).*?\.)?(?: Supersedes a part of \[[^.]+\.md\).*?\.)?(?: Amends \[[^.]+\.md\).*?\.)?/
        var named: [String: Set<String>] = [:]
        for record in records {
            let status = try #require(record.lines.dropFirst(2).first, "\(record.name)")
            #expect(status.wholeMatch(of: form) != nil, "\(record.name): \(status)")
            named[record.number] = Set(status.matches(of: /\]\((\d{4})-/).map { String($0.1) })
        }
        for (number, others) in named {
            for other in others {
                #expect(named[other]?.contains(number) == true, "\(other) does not name \(number)")
            }
        }
    }

    @Test func `a link to a record leads to a file, and a number in its text is that of the record`() throws {
        let pattern = /\[([^\[\]]*)\]\((?:[^()\s]*\/)?(\d{4})(-[a-z0-9-]+)\.md/
        let names = Set(records.map(\.name))
        var count = 0
        for page in try pages() {
            for link in try PackageSources.text(page).matches(of: pattern) {
                count += 1
                #expect(names.contains("\(link.2)\(link.3)"), "\(page): \(link.0)")
                let labels = link.1.matches(of: /\d{4}/).map { String($0.output) }
                #expect(labels.allSatisfy { $0 == String(link.2) }, "\(page): \(link.0)")
            }
        }
        #expect(count > 200)
    }

    /// Returns the pages that link to decisions, relative to the root.
    private func pages() throws -> [String] {
        let folders = try ["Docs", "Sources"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: PackageSources.root.appending(path: folder).path)
                .filter { $0.hasSuffix(".md") }.map { "\(folder)/\($0)" }
        }
        return folders.sorted() + ["README.md", "CONTRIBUTING.md"]
    }
}
