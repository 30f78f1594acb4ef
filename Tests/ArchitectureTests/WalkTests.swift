import Foundation
import Testing

/// The walk from a call to *confirmed* in `Docs/Architecture.md`, compared with the sources.
@Suite struct WalkTests {
    private struct Stop {
        let symbol: String
        let file: String
    }

    private let stops: [Stop]

    init() throws {
        let document = try PackageSources.text("Docs/Architecture.md")
        let section = document.components(separatedBy: "## From a call to *confirmed*").dropFirst().first ?? ""
        stops = (section.components(separatedBy: "\n## ").first ?? "").split(separator: "\n").compactMap { line in
            guard let found = line.firstMatch(of: /^\d+\. \[`(.+?)`\]\(\.\.\/(.+?)\)/) else { return nil }
            return Stop(symbol: String(found.1), file: String(found.2))
        }
    }

    @Test func `a create is confirmed after at most twelve stops`() { #expect((8...12).contains(stops.count)) }

    @Test func `each stop is declared in the file that it links to`() throws {
        for stop in stops {
            let source = try PackageSources.text(stop.file)
            let names = stop.symbol.split(separator: ".").map(String.init)
            let declared = try Regex("\\b(struct|class|enum|actor|extension|protocol) \(names[0])\\b")
            #expect(source.contains(declared), "\(stop.symbol) in \(stop.file)")
            guard names.count > 1 else { continue }
            let function = try Regex("\\bfunc \(names[1])\\b")
            #expect(source.contains(function), "\(stop.symbol) in \(stop.file)")
        }
    }
}
