import Foundation
import Testing

/// The help of the program and its documentation.
@Suite(.timeLimit(.minutes(20))) struct HelpTests {
    private static let document = URL(filePath: #filePath).appending(path: "../../../Docs/CommandLine.md").standardized

    @Test func `the groups of the help are the sections of the documentation`() throws {
        let help = try Workspace().output("--help").split(separator: "\n")
        let groups = help.filter { $0.hasSuffix(" SUBCOMMANDS:") }.map { String($0.dropLast(" SUBCOMMANDS:".count)) }
        let lines = try String(contentsOf: Self.document, encoding: .utf8).split(separator: "\n")
        let sections = lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst("## ".count).uppercased() }
        #expect(groups == sections.filter { $0 != "CONVENTIONS" })
    }
}
