internal import ArgumentParser
internal import Tidelog

struct QueriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queries", abstract: "List, add and remove the defining queries of a store.",
        subcommands: [QueriesListCommand.self, QueriesAddCommand.self, QueriesRemoveCommand.self],
        defaultSubcommand: QueriesListCommand.self)
}

struct QueriesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the defining queries in the order in which pull reads them.")

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let queries = try await provider.getDefiningQueries()
            for query in queries { try Console.print(format.json ? query.json : query.line) }
            if queries.isEmpty, !format.json { try Console.print("No defining queries.") }
        }
    }
}

struct QueriesAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a defining query, or replace the one with the same name.",
        discussion: "The next pull downloads it. Needs no network.")

    @Argument(help: ArgumentHelp("The name of the query.", valueName: "name")) var name: String
    @Argument(
        help: ArgumentHelp(
            "The query, relative to the service root. If it is omitted, the name is that of an entity set.",
            valueName: "query"))
    var query: String?
    @Flag(help: "Also download the streams of its media entities.") var streams = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            try await provider.add(
                definingQuery: OfflineODataDefiningQuery(
                    name: name, query: query ?? name, automaticallyRetrievesStreams: streams))
            guard let added = try await provider.getDefiningQueries().first(where: { $0.name == name }) else { return }
            if format.json { return try Console.print(added.json) }
            try Console.print(added.line)
            try Console.print("Run 'tidelog pull \(name)' to download it.")
        }
    }
}

struct QueriesRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a defining query, and the entities that no other query covers.",
        discussion: """
            Fails while operations are pending on these entities, or if the configuration file does not allow it. \
            Needs no network.
            """)

    @Argument(help: ArgumentHelp("The name of the query.", valueName: "name")) var name: String
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let removed = try await provider.getDefiningQueries().first { $0.name == name }
            try await provider.remove(definingQuery: name)
            if format.json { return try Console.print(removed?.json ?? "{}") }
            try Console.print("Removed \(name).")
        }
    }
}

extension OfflineODataDefiningQuery {
    fileprivate var line: String {
        oneLine("\(name) = \(query)") + (automaticallyRetrievesStreams ? " (with streams)" : "")
    }

    fileprivate var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("name", name)
        json.member("query", query)
        json.name("streams")
        json.boolean(automaticallyRetrievesStreams)
        json.endObject()
        return json.text
    }
}
