internal import ArgumentParser
internal import EDM
internal import ODataWire
internal import Tidelog

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create a store for a service; reads its metadata.",
        discussion: """
            A defining query selects a part of the service for the store, for example --query \
            'Swiss=Customers?$filter=Country eq '\\''CH'\\''&$expand=Orders'. By default, each entity set and \
            singleton gets one. In an existing store, queries are added or replaced by name, and options of the \
            service are changed.
            """)

    @Argument(help: "The service root, an absolute URL.")
    var serviceRoot: String

    @Option(
        help: ArgumentHelp(
            "A defining query, relative to the service root; may be repeated. Without NAME=, its name is that of its entity set.",
            valueName: "[NAME=]PATH"),
        transform: QueryArgument.init)
    var query: [QueryArgument] = []

    @OptionGroup var service: ServiceArguments
    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions

    func validate() throws {
        // The root is stored and shown in errors, so it must not contain a password.
        let rest = ["http://", "https://"].first { serviceRoot.hasPrefix($0) }.map { serviceRoot.dropFirst($0.count) }
        guard let rest, !rest.isEmpty, !rest.contains(where: { "?#".contains($0) }),
            !rest.prefix(while: { $0 != "/" }).contains("@")
        else {
            throw ValidationError(
                "The service root must be an absolute http or https URL without query, fragment, user and password.")
        }
        if let name = query.map(\.name).first(where: { name in query.count { $0.name == name } > 1 }) {
            throw ValidationError("Two defining queries have the name \(name).")
        }
    }

    func run() async throws {
        let parameters = try access.parameters(options, typed: serviceRoot)
        let provider = OfflineODataProvider(serviceRoot: serviceRoot, parameters: parameters)
        // Added before the store is opened: if one of them is invalid, none is added, and no store is created.
        for query in query {
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: query.name, query: query.path))
        }
        try await StoreOptions.open(provider) { provider in
            ServiceAccess.remember(serviceRoot, for: options)
            if !service.isEmpty { try await provider.keep(try service.changed(try await provider.serviceOptions)) }
            let model = try await provider.model()
            let isDefault = try await provider.getDefiningQueries().isEmpty
            if isDefault {
                for query in OfflineODataDefiningQuery.all(of: model) { try await provider.add(definingQuery: query) }
            }
            let queries = try await provider.getDefiningQueries()
            try Console.print(
                "Store \(options.store) of \(try provider.serviceRoot) (OData \(model.version.rawValue)).")
            let singletons = counted(model.singletons.count, "singleton", "singletons")
            try Console.print(
                isDefault
                    ? "One defining query for each of the \(model.entitySets.count) entity sets"
                        + "\(model.singletons.isEmpty ? "" : " and \(singletons)"), because no query was given:"
                    : "\(counted(queries.count, "defining query", "defining queries")):")
            for query in queries { try Console.print("  \(query.name) = \(query.query)") }
            for line in DefectText(model.defects).lines { try Console.print(line) }
            if isDefault { try printOmittedElements(model) }
            try Console.print("Run 'tidelog pull' to download them.")
        }
    }
}

extension InitCommand {
    private func printOmittedElements(_ model: EntityDataModel) throws {
        let omitted = OfflineODataDefiningQuery.omittedElements(of: model)
        guard !omitted.isEmpty else { return }
        try Console.print("Omitted:")
        for part in omitted { try Console.print("  \(oneLine(part.path)): \(oneLine(part.reason))") }
    }
}

/// An argument `NAME=PATH`, or a path whose name is that of its entity set or singleton.
struct QueryArgument: Hashable {
    var name: String
    var path: String

    init(name: String, path: String) {
        self.name = name
        self.path = path
    }

    /// Creates a query that has the name of its entity set; nil if the path does not begin with a name.
    init?(path: String) {
        let name = path.drop { $0 == "/" }.prefix { !"/?($=".contains($0) }
        guard !name.isEmpty else { return nil }
        self.init(name: String(name), path: path)
    }

    init(_ text: String) throws {
        // An equals sign after the beginning of the query options is a part of the path.
        if text.prefix(while: { $0 != "=" }).contains(where: { "?(".contains($0) }) || !text.contains("=") {
            guard let query = QueryArgument(path: text) else {
                throw ValidationError("'\(text)' is neither a path nor of the form NAME=PATH.")
            }
            self = query
            return
        }
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else { throw ValidationError("'\(text)' does not have the form NAME=PATH.") }
        name = String(text[..<equals])
        path = String(text[text.index(after: equals)...])
    }
}

struct PushCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Send the pending operations.",
        discussion: """
            Operations that the service rejects stay in the store with its error message, and the next push tries them \
            again. If the service is busy, it waits and continues, for half a minute in total or as long as --wait \
            specifies.

            Exits with 1 if an operation was rejected, is in doubt, or waits because another client changed the same \
            entity ('tidelog conflicts'), and with 75 if the service postponed the rest.
            """,
        aliases: ["upload"])

    @OptionGroup var queue: QueueArguments

    @OptionGroup var patience: RetryArguments

    @Flag(help: "Send operations in doubt again, at the risk that they take effect twice.")
    var resendInDoubt = false

    @Option(
        help: ArgumentHelp(
            "The policy for conflicts: merge changes that do not overlap and ask for the rest (merge), let one side win the overlapping changes (merge-mine, merge-theirs), let one side win all (mine, theirs), or ask.",
            valueName: "policy"))
    var conflicts: ConflictPolicyArgument = .merge

    @Option(
        help: ArgumentHelp(
            "The policy for creates whose response was lost: search by the values that were sent (evidence), only by keys and unique properties (correlation), or leave them in doubt (ask). By default, the option of 'tidelog service'.",
            valueName: "policy"))
    var doubts: DoubtPolicyArgument?

    @OptionGroup var service: ServiceArguments
    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let end = try await access.withStore(options) { provider in
            try await service.apply(to: provider)
            if resendInDoubt { try await provider.resendOperationsInDoubt() }
            return try await UploadText.printing(provider, json: format.json) { try await provider.upload(upload) }
        }
        if end != .done { throw ReportedFailure(status: end) }
    }

    private var upload: UploadOptions {
        var options = queue.upload
        options.conflicts.policy = conflicts.policy
        options.doubts = doubts?.policy
        options.retry = patience.retry
        options.ignoresPostponement = patience.now
        return options
    }
}

enum DoubtPolicyArgument: String, CaseIterable, ExpressibleByArgument {
    case evidence
    case correlation
    case ask

    var policy: ServiceOptions.DoubtPolicy {
        switch self {
        case .evidence: .evidence
        case .correlation: .correlation
        case .ask: .ask
        }
    }
}

/// The arguments for the retry policy of a push or pull if the service is busy.
struct RetryArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The total time to wait for a service that is busy or cannot be reached.", valueName: "seconds"))
    var wait: Int?

    @Flag(help: "Begin at once, although the service postponed requests.")
    var now = false

    func validate() throws {
        guard (wait ?? 0) >= 0, (wait ?? 0) <= 31_536_000 else {
            throw ValidationError("--wait must be from 0 to 31536000.")
        }
    }

    var retry: RetryPolicy {
        var retry = RetryPolicy()
        if let wait {
            retry.patience = .seconds(wait)
            retry.waitsForConnection = true
            retry.attempts = 1_000
        }
        return retry
    }
}
