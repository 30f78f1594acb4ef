import Foundation
import TestSupport
import Testing

@testable import tidelog_cli

/// Errors of arguments, suggestions, and the examples of the help pages.
@Suite(.timeLimit(.minutes(20))) struct UsageTests {
    @Test(arguments: [
        (["pussh"], "push"), (["queries", "lsit"], "list"), (["media", "gett"], "get"),
        (["refresh-metdata"], "refresh-metadata"),
        (["push", "--conflicts", "mines"], "mine"), (["push", "--doubts", "evidense"], "evidence"),
        (["push", "--wiat", "5"], "--wait"),
    ])
    func `a mistyped command, option or value has a suggestion`(_ arguments: [String], _ word: String) throws {
        let workspace = try Workspace()
        let run = try workspace.run(arguments)
        #expect(run.status == 64)
        let error = run.error
        #expect(error.hasPrefix("tidelog: "), "\(error)")
        #expect(error.contains("Did you mean '\(word)'?"), "\(error)")
    }

    @Test func `the suggestion is a part of the first line`() throws {
        let workspace = try Workspace()
        let text = { (arguments: [String]) throws -> String in
            let run = try workspace.run(arguments)
            return run.error.split(separator: "\n").first.map(String.init) ?? ""
        }
        #expect(try text(["pussh"]) == "tidelog: Unexpected argument 'pussh'. Did you mean 'push'?")
        #expect(
            try text(["push", "--doubts", "evidense"])
                == "tidelog: The value 'evidense' is invalid for '--doubts <policy>'. Did you mean 'evidence'? "
                + "Please provide one of 'evidence', 'correlation' or 'ask'.")
    }

    @Test func `a word that resembles no command has no suggestion`() throws {
        let workspace = try Workspace()
        let run = try workspace.run(["frobnicate"])
        #expect(!run.error.contains("Did you mean"))
    }

    @Test(arguments: [
        ("push", "pussh", 1), ("push", "psuh", 1), ("log", "log", 0), ("", "abc", 3), ("kitten", "sitting", 3),
    ])
    func `the distance of two words counts insertions, replacements and exchanges`(_ a: String, _ b: String, _ n: Int) {
        #expect(Spelling.distance(a, b) == n)
        #expect(Spelling.distance(b, a) == n)
    }

    @Test func `the nearest word is suggested only if it is near`() {
        #expect(Spelling.nearest(to: "psh", in: ["pull", "push"]) == "push")
        #expect(Spelling.nearest(to: "xyz", in: ["pull", "push"]) == nil)
        #expect(Spelling.nearest(to: "push", in: []) == nil)
    }

    // MARK: Examples

    @Test func `each command has examples`() {
        let names = Set(RootCommand.paths)
        #expect(names.count > 50)
        #expect(names.subtracting(Examples.all.keys) == [])
        #expect(Set(Examples.all.keys).subtracting(names) == [])
    }

    @Test(arguments: Examples.all.keys.sorted())
    func `the examples of a command are valid calls of it`(_ name: String) throws {
        for example in Examples.all[name] ?? [] {
            let words = Self.words(example)
            #expect(words.first == "tidelog")
            #expect(words.dropFirst().starts(with: name.split(separator: " ").map(String.init)), "\(example)")
            #expect(throws: Never.self, "\(example)") { try Examples.check(Array(words.dropFirst())) }
        }
    }

    @Test(arguments: [["push", "--help"], ["help", "push"], ["queries", "add", "-h"], ["--help"]])
    func `a help page ends with examples`(_ arguments: [String]) throws {
        let workspace = try Workspace()
        let run = try workspace.run(arguments)
        #expect(run.status == 0)
        let help = run.output
        #expect(help.contains("\nEXAMPLES:\n  tidelog "), "\(help)")
    }

    /// Splits a line as a shell does, with single quotes.
    private static func words(_ line: String) -> [String] {
        var words = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words
    }

    // MARK: Queries without a name

    @Test(arguments: [
        ("Customers", "Customers", "Customers"),
        ("/Customers?$filter=Name eq 'x'", "Customers", "/Customers?$filter=Name eq 'x'"),
        ("Customers(1)/Orders", "Customers", "Customers(1)/Orders"),
        ("Open=Orders?$filter=Closed eq false", "Open", "Orders?$filter=Closed eq false"),
    ])
    func `a query without a name has that of its entity set`(_ text: String, _ name: String, _ path: String) throws {
        let query = try QueryArgument(text)
        #expect(query.name == name)
        #expect(query.path == path)
    }

    @Test(arguments: ["", "=", "=Customers", "A=", "?$filter=x", "/"])
    func `a query without a path is refused`(_ text: String) {
        #expect(throws: (any Error).self) { try QueryArgument(text) }
    }

    @Test func `init and queries add accept a query without a name`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        let output = try workspace.output("init", server.root(.v4), "--query", "Customers")
        #expect(output.contains("  Customers = "), "\(output)")
        #expect(try workspace.output("queries", "add", "Orders").contains("Orders"))
        #expect(try workspace.output("pull").contains("Read "))
    }
}

extension RootCommand {
    /// The words that name each command, also those that only have subcommands.
    fileprivate static var paths: [String] { [""] + UsageText.paths(below: RootCommand.self, []) }
}
