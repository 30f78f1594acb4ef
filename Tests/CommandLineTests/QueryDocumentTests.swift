import Foundation
import TestSupport
import Testing

/// The examples of Docs/Queries.md: each command with its output.
@Suite(.timeLimit(.minutes(20))) struct QueryDocumentTests {
    private struct Example {
        let command: String
        var output: String

        /// The arguments of the command. Text in quotes is one argument; `'\''` is a quote.
        var arguments: [String] {
            var arguments: [String] = []
            var current: String?
            var isQuoted = false
            var characters = command[...]
            while let character = characters.popFirst() {
                switch character {
                case "'": (isQuoted, current) = (!isQuoted, current ?? "")
                case "\\" where !isQuoted:
                    if let next = characters.popFirst() { current = (current ?? "") + String(next) }
                case " " where !isQuoted:
                    if let current { arguments.append(current) }
                    current = nil
                default: current = (current ?? "") + String(character)
                }
            }
            return arguments + (current.map { [$0] } ?? [])
        }
    }

    private static let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Docs/Queries.md")

    private func examples() throws -> [Example] {
        var examples: [Example] = []
        var isConsole = false
        for line in try String(contentsOf: Self.document, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        {
            if line.hasPrefix("```") {
                isConsole = line == "```console"
            } else if isConsole, line.hasPrefix("$ tidelog ") {
                examples.append(Example(command: String(line.dropFirst("$ tidelog ".count)), output: ""))
            } else if isConsole, !examples.isEmpty {
                examples[examples.count - 1].output += line + "\n"
            }
        }
        return examples
    }

    @Test func `the examples of the page on queries print the documented output`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4)
        let examples = try examples()
        #expect(examples.count > 25)
        for example in examples {
            let run = try workspace.run(example.arguments)
            #expect(
                run.output + run.error == example.output, "\(example.command)")
        }
    }
}
