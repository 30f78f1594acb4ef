import Foundation
import Testing

/// The walk from a call to *confirmed* in `Docs/Architecture.md`, compared with the sources.
@Suite struct WalkTests {
    private struct Stop {
        /// The first symbol, and the file that it links to.
        let symbol: String
        let file: String
        /// All symbols of the stop, with the module that follows in parentheses, if one does.
        let symbols: [(name: String, module: String?)]
    }

    private let stops: [Stop]
    private let files: [String]
    private let modules: Set<String>

    init() throws {
        files = try PackageSources.swiftFiles("Sources")
        modules = try PackageSources.folders()
        let document = try PackageSources.text("Docs/Architecture.md")
        let section = document.components(separatedBy: "## From a call to *confirmed*").dropFirst().first ?? ""
        stops = (section.components(separatedBy: "\n## ").first ?? "").split(separator: "\n").compactMap { line in
            guard let found = line.firstMatch(of: /^\d+\. \[`(.+?)`\]\(\.\.\/(.+?)\)/) else { return nil }
            let symbols = line.matches(of: /`([A-Za-z]\w*(?:\.\w+)?)`(?: \(`([A-Z]\w*)`\))?/)
            return Stop(
                symbol: String(found.1), file: String(found.2),
                symbols: symbols.map { (String($0.1), $0.2.map { String($0) }) })
        }
    }

    /// Returns whether the files declare a type and, if the symbol has a second part, a function of that name. A symbol
    /// in lower case is a kind of record.
    private static func declares(_ symbol: String, in files: [String]) throws -> Bool {
        let source = try files.map(PackageSources.text).joined(separator: "\n")
        let names = symbol.split(separator: ".")
        guard symbol.first?.isUppercase == true else { return source.contains(try Regex("\\bcase \(symbol)\\b")) }
        guard source.contains(try Regex("\\b(struct|class|enum|actor|protocol) \(names[0])\\b")) else { return false }
        return try names.count == 1 || source.contains(Regex("\\bfunc \(names[1])\\b"))
    }

    /// Returns the files that are named after the type of a symbol, or the file of the kinds of records.
    private func files(of symbol: String, in module: String?) -> [String] {
        let name = symbol.first?.isUppercase == true ? symbol.prefix { $0 != "." } : "Record"
        return files.filter { file in
            guard let last = file.split(separator: "/").last, last == "\(name).swift" || last.hasPrefix("\(name)+")
            else { return false }
            return module.map { modules.contains($0) ? file.hasPrefix("Sources/\($0)/") : true } ?? true
        }
    }

    @Test func `a create is confirmed after at most twelve stops`() { #expect((8...12).contains(stops.count)) }

    @Test func `each stop is declared in the file that it links to`() throws {
        for stop in stops {
            let declares = try Self.declares(stop.symbol, in: [stop.file])
            #expect(declares, "\(stop.symbol) in \(stop.file)")
        }
    }

    @Test func `each symbol that a stop names is declared in a file with its name, and in the module named after it`()
        throws
    {
        #expect(stops.flatMap(\.symbols).count > stops.count)
        for (name, module) in stops.flatMap(\.symbols) where !modules.contains(name) {
            let declares = try Self.declares(name, in: files(of: name, in: module))
            #expect(declares, "\(name)\(module.map { " in \($0)" } ?? "")")
        }
    }
}
