internal import ArgumentParser
internal import Tidelog

struct AtCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "at", abstract: "Show the store as of an earlier operation or time.",
        discussion: """
            Shows the number of entities in each entity set and the pending operations, or the output of query, keys, \
            status or plan as of then. Derived in memory from the newest snapshot that is not later; the store does \
            not change and need not be closed.

            tidelog at 120
            tidelog at 2026-11-21T07:43:17Z query 'Customers?$filter=Rating gt 3'
            """)

    @Argument(help: ArgumentHelp("As of the operation with this number, or of this time.", valueName: "seq|time"))
    var point: PointArgument

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("query, keys, status or plan, with its arguments.", valueName: "command"))
    var command: [String] = []

    private static let commands = ["query", "keys", "status", "plan"]

    func run() async throws {
        let command = Array(command.drop { $0 == "--" })
        if let name = command.first { return try await run(command, name) }
        let provider = try await options.past(at: point.point)
        let summary = try await AtText(provider)
        for line in format.json ? [summary.json] : summary.lines { try Console.print(line) }
    }

    private func run(_ command: [String], _ name: String) async throws {
        // Options after the point belong to this command.
        if name.hasPrefix("-") {
            let end = Self.optionsEnd(command)
            return try await Self.run(["at"] + given + command[..<end] + [point.text] + command[end...])
        }
        guard Self.commands.contains(name) else {
            let others = Self.commands.joined(separator: ", ")
            throw ValidationError("'\(name)' cannot show an earlier state. Use \(others).")
        }
        // If an option occurs twice, the last one is used; after "--" there are no options.
        let rest = command.dropFirst()
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        try await Self.run([name] + given + rest[..<end] + ["--at", point.text] + rest[end...])
    }

    /// The options that were given so far.
    private var given: [String] {
        ["--store", options.store] + (options.config.map { ["--config", $0] } ?? []) + (format.json ? ["--json"] : [])
    }

    /// Returns the index of the command's name, after options with their values, or the end if there is no name.
    private static func optionsEnd(_ command: [String]) -> Int {
        var index = 0
        while index < command.count, command[index].hasPrefix("-"), command[index] != "--" {
            index += command[index] == "--store" || command[index] == "--config" ? 2 : 1
        }
        return min(index, command.count)
    }

    private static func run(_ arguments: [String]) async throws {
        guard var command = try RootCommand.parseAsRoot(arguments) as? any AsyncParsableCommand else { return }
        try await command.run()
    }
}

/// A summary of a store as of an earlier record.
private struct AtText {
    private let sequence: UInt64
    private let digest: String
    private let counts: [(set: String, count: Int64)]
    private let states: [OperationState]

    init(_ provider: HistoricalODataProvider) async throws {
        sequence = provider.sequence
        digest = try await provider.stateDigest()
        var counts: [(set: String, count: Int64)] = []
        for set in try await provider.model().entitySets {
            let answer = try await provider.query(.url("\(set.name)/$count"), headers: .empty)
            if let count = answer.count, count > 0 { counts.append((set.name, count)) }
        }
        self.counts = counts
        states = try await provider.operationStatus().map(\.state)
    }

    var lines: [String] {
        var lines = ["After operation \(sequence), state \(digest)."]
        if !counts.isEmpty {
            var table = TextTable([("set", .left), ("entities", .right)])
            for (set, count) in counts { table.add([set, String(count)]) }
            lines += [""] + table.lines + [""]
        }
        return lines + [StatusText.summary(states)]
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", sequence)
        json.member("digest", digest)
        json.name("sets")
        json.beginObject()
        for (set, count) in counts { json.member(set, count) }
        json.endObject()
        json.name("states")
        json.beginObject()
        let counts = states.reduce(into: [:]) { $0[$1.rawValue, default: 0] += 1 }
        for (state, count) in counts.sorted(by: { $0.key < $1.key }) { json.member(state, count) }
        json.endObject()
        json.endObject()
        return json.text
    }
}
