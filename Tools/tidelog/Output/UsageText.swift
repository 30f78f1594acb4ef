internal import ArgumentParser

/// The texts of the argument parser, in the style of all other errors, with a suggestion for a mistyped word.
struct UsageText {
    /// The text of the parser: an error with the usage, or a help page.
    let parserText: String
    let arguments: [String]

    /// The error, beginning with `tidelog: `.
    var error: String {
        var lines = parserText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first else { return "tidelog: The arguments are invalid." }
        lines[0] = "tidelog: \(sentence(first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first))"
        return lines.joined(separator: "\n")
    }

    /// The help page, with the examples of its command.
    var help: String {
        guard parserText.hasPrefix("OVERVIEW:"), let examples = Examples.all[path.joined(separator: " ")] else {
            return parserText
        }
        var lines = parserText.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        while lines.last == "" { lines.removeLast() }
        return (lines + ["", "EXAMPLES:"] + examples.map { "  \($0)" }).joined(separator: "\n")
    }

    /// The words that name the command: `queries add`.
    private var path: [String] { walk().path }

    /// Follows the words to the command that they name.
    private func walk() -> (path: [String], command: any ParsableCommand.Type, unknown: String?) {
        var words: [String] = []
        var command: any ParsableCommand.Type = RootCommand.self
        for word in arguments {
            let subcommands = command.subcommands
            if subcommands.isEmpty || word.hasPrefix("-") { break }
            if words.isEmpty, word == "help" { continue }
            guard let next = subcommands.first(where: { $0.names.contains(word) }) else {
                return (words, command, word)
            }
            command = next
            words.append(next.names[0])
        }
        return (words, command, nil)
    }

    /// Returns the words that name each command below a command.
    static func paths(below command: any ParsableCommand.Type, _ words: [String]) -> [String] {
        command.subcommands.flatMap { next -> [String] in
            let path = words + [next.names[0]]
            return [path.joined(separator: " ")] + paths(below: next, path)
        }
    }

    /// Returns the message with a full stop, and with a suggestion if there is one.
    private func sentence(_ message: String) -> String {
        if let match = message.firstMatch(of: /^The value '(.*)' is invalid for '.*?'\. (?=Please provide)/) {
            guard let value = Spelling.nearest(to: String(match.1), in: permittedValues(message)) else {
                return message
            }
            return "\(match.0)Did you mean '\(value)'? \(message[match.range.upperBound...])"
        }
        let text = message.last.map { ".?:".contains($0) } == true ? message : message + "."
        let (_, command, unknown) = walk()
        let names = command.subcommands.flatMap { $0.names }
        guard let unknown, let name = Spelling.nearest(to: unknown, in: names) else { return text }
        return "\(text) Did you mean '\(name)'?"
    }

    /// Returns the values that the parser lists in the message, or in the lines after it.
    private func permittedValues(_ message: String) -> [String] {
        let list = message.split(separator: "Please provide one of").last ?? ""
        let quoted = list.matches(of: /'([^']*)'/).map { String($0.1) }
        guard quoted.isEmpty else { return quoted }
        return parserText.split(separator: "\n").filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
    }
}

extension ParsableCommand {
    fileprivate static var subcommands: [any ParsableCommand.Type] {
        configuration.subcommands + configuration.groupedSubcommands.flatMap(\.subcommands)
    }

    fileprivate static var names: [String] {
        [configuration.commandName ?? "\(Self.self)".lowercased()] + configuration.aliases
    }
}

/// Mistyped words.
enum Spelling {
    /// Returns the candidate with the fewest differences, or nil if each has more than one in three letters.
    static func nearest(to word: String, in candidates: [String]) -> String? {
        let distances = candidates.map { (name: $0, distance: distance(word.lowercased(), $0.lowercased())) }
        guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance > 0 || best.name != word else {
            return nil
        }
        return best.distance <= max(1, word.count / 3) ? best.name : nil
    }

    /// Returns the number of insertions, removals, replacements and exchanges of neighboring letters between two words.
    static func distance(_ a: String, _ b: String) -> Int {
        let (a, b) = (Array(a), Array(b))
        var older: [Int] = []
        var last = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, older[j - 1] + 1) }
                row.append(best)
            }
            (older, last) = (last, row)
        }
        return last[b.count]
    }
}
