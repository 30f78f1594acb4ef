import Foundation

/// A Markdown page of this package.
struct Article: Sendable, CustomStringConvertible {
    /// The path, relative to the root of the package.
    let name: String
    let text: String

    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    var path: String { Self.root.appending(path: name).path }
    var description: String { name }

    init(name: String, text: String) {
        self.name = name
        self.text = text
    }

    private init(_ name: String) throws {
        try self.init(name: name, text: String(contentsOf: Self.root.appending(path: name), encoding: .utf8))
    }

    /// Returns the pages in a folder, without its subfolders.
    private static func all(in folder: String) throws -> [Article] {
        let files = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return try files.filter { $0.hasSuffix(".md") }.sorted().map { try Article("\(folder)/\($0)") }
    }

    /// Returns the articles of the catalogue.
    static func catalogue() throws -> [Article] { try all(in: "Sources/Tidelog/Tidelog.docc") }

    /// Returns all pages that developers of apps read.
    static func all() throws -> [Article] { try catalogue() + [Article("README.md")] + all(in: "Docs") }

    var blocks: [CodeBlock] { CodeBlock.blocks(in: text) }
    var samples: [Sample] { blocks.filter { $0.language == "swift" }.map { Sample(article: self, block: $0) } }
}
