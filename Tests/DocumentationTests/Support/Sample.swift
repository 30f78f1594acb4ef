/// A block of Swift as a source that can be compiled.
///
/// Most blocks are statements: they become the body of an `async throws` function whose parameters are ``given`` and
/// the constants that a comment before the block declares. A block with a line that begins with `extension`,
/// `nonisolated` or an attribute is a separate source. Imports are moved to the top in any case. A block that begins with `//
/// swift-tools-version` is a manifest, and a block that begins with a dot is a part of a manifest.
struct Sample {
    let article: Article
    let block: CodeBlock

    enum Kind: Equatable {
        case statements
        case file
        case manifest
        case manifestPart(type: String)
    }

    /// The constants that every block can use without declaring them. The classes are those of the Shop in
    /// `Tests/SampleServices`.
    static let given = [
        CodeBlock.Constant(name: "provider", type: "OfflineODataProvider"),
        CodeBlock.Constant(name: "service", type: "ShopService"),
        CodeBlock.Constant(name: "serviceRoot", type: "String"),
        CodeBlock.Constant(name: "storePath", type: "String"),
        CodeBlock.Constant(name: "parameters", type: "OfflineODataParameters"),
        CodeBlock.Constant(name: "customer", type: "Customer"),
        CodeBlock.Constant(name: "order", type: "Order"),
        CodeBlock.Constant(name: "product", type: "Product"),
        CodeBlock.Constant(name: "supplier", type: "Supplier"),
    ]

    var kind: Kind {
        let first = block.lines.first { !$0.isEmpty } ?? ""
        if first.hasPrefix("// swift-tools-version") { return .manifest }
        if first.hasPrefix(".package(") { return .manifestPart(type: "Package.Dependency") }
        if first.hasPrefix(".") { return .manifestPart(type: "Target") }
        let starts = ["extension ", "nonisolated ", "@"]
        return block.lines.contains { line in starts.contains { line.hasPrefix($0) } } ? .file : .statements
    }

    var needsSwiftUI: Bool { block.lines.contains("import SwiftUI") }

    /// Returns the source of the sample.
    ///
    /// - Parameter number: A number that is unique among the sources of the module.
    func source(number: Int) -> String {
        let isImport = { (line: String) in line.hasPrefix("import ") }
        // An import is replaced by an empty line, so that the other lines keep their numbers.
        let body = block.lines.map { isImport($0) ? "" : $0 }
        let imports = ["import Foundation", "import ShopService", "import Tidelog"] + block.lines.filter(isImport)
        let lines =
            switch kind {
            case .statements:
                imports + ["func block\(number)(\(parameters)) async throws {", place(block.line)] + body + [end, "}"]
            case .file: imports + [place(block.line)] + body + [end]
            case .manifest: [place(block.line)] + block.lines + [end]
            case .manifestPart(let type):
                ["import PackageDescription", place(block.line - 1), "let part: \(type) ="] + block.lines + [end]
            }
        return lines.joined(separator: "\n") + "\n"
    }

    private var end: String { "#sourceLocation()" }

    /// Returns a directive that specifies the origin of the next line.
    private func place(_ line: Int) -> String { "#sourceLocation(file: \"\(article.path)\", line: \(line))" }

    private var parameters: String {
        let own = Set(block.given.map(\.name))
        let constants = Self.given.filter { !own.contains($0.name) } + block.given
        return constants.map { "_ \($0.name): \($0.type)" }.joined(separator: ", ")
    }
}
