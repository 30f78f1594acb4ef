internal import ArgumentParser
internal import OfflineStore
internal import OperationLog
internal import SyncEngine
internal import Tidelog

/// The access to the service, on the commands that need it. All others open the store by
/// ``StoreOptions/withStore(_:)``, which can send nothing.
struct ServiceAccess: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The origin of the credentials in the environment, such as https://example.org; remembered for this store.",
            valueName: "url"))
    var origin: String?

    @OptionGroup var limit: LimitArguments

    /// Opens the store with access to its service, runs the body, and closes the store.
    func withStore<T>(_ options: StoreOptions, _ body: (OfflineODataProvider) async throws -> T) async throws -> T {
        var parameters = try options.parameters
        let files = StoreFiles(directory: options.store)
        guard let root = try StoreDescription.read(files, keys: try .fromEnvironment())?.serviceRoot else {
            return try await options.withStore(body)
        }
        parameters.credentials = try EnvironmentCredentials().credentials(
            forStore: options.store, root: root, named: origin)
        allow(&parameters)
        // The root that was checked, even if the store contains another one meanwhile.
        return try await StoreOptions.open(OfflineODataProvider(serviceRoot: root, parameters: parameters), body)
    }

    /// Returns parameters for a service whose root the user typed.
    func parameters(_ options: StoreOptions, typed root: String) throws -> OfflineODataParameters {
        if let origin, ServiceAddress.origin(of: origin) != ServiceAddress.origin(of: root) {
            throw CommandFailure("--origin differs from the origin of the service root.")
        }
        var parameters = try options.parameters
        parameters.credentials = try EnvironmentCredentials().credentials(typed: root)
        allow(&parameters)
        return parameters
    }

    /// Stores the origin of a root that the user typed, for later commands on the store.
    static func remember(_ root: String, for options: StoreOptions) {
        let hasCredentials = EnvironmentCredentials().credentials != .none
        do {
            guard let known = KnownOrigins() else {
                throw CommandFailure(
                    "The origin cannot be stored: HOME is not a directory.",
                    recovery: "Set TIDELOG_TOKEN_ORIGIN for later commands.")
            }
            try known.add(ServiceAddress.origin(of: root), store: options.store)
        } catch {
            if hasCredentials, let line = ErrorReport(error).line { Console.printError("tidelog: \(line)") }
        }
    }

    private func allow(_ parameters: inout OfflineODataParameters) {
        parameters.transport = nil
        parameters.limits = limit.limits
    }
}

/// The option `--limit NAME=VALUE`, on commands that use the service.
struct LimitArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A limit for the responses of the service in this run; may be repeated. In seconds, or none: \
            \(LimitArgument.times.keys.sorted().joined(separator: ", ")). Numbers: \
            \(LimitArgument.counts.keys.sorted().joined(separator: ", ")).
            """, valueName: "NAME=VALUE"), transform: LimitArgument.init)
    var limit: [LimitArgument] = []

    var limits: ServiceLimits {
        var limits = ServiceLimits()
        for argument in limit { argument.apply(&limits) }
        return limits
    }
}

/// An argument such as `totalTimeout=600`.
struct LimitArgument {
    let apply: @Sendable (inout ServiceLimits) -> Void

    typealias Time = @Sendable (inout ServiceLimits, Duration?) -> Void
    typealias Count = @Sendable (inout ServiceLimits, Int) -> Void

    static let times: [String: Time] = [
        "connectTimeout": { $0.response.connectTimeout = $1 ?? .seconds(86_400) },
        "headTimeout": { $0.response.headTimeout = $1 },
        "idleTimeout": { $0.response.idleTimeout = $1 },
        "totalTimeout": { $0.response.totalTimeout = $1 },
        "mediaTimeout": { $0.response.mediaTimeout = $1 },
    ]
    static let counts: [String: Count] = [
        "minimumSpeed": { $0.response.minimumSpeed = $1 },
        "bufferedBytes": { $0.response.bufferedBytes = Int64($1) },
        "streamedBytes": { $0.response.streamedBytes = Int64($1) },
        "mediaBytes": { $0.response.mediaBytes = Int64($1) },
        "refusalBytes": { $0.response.refusalBytes = Int64($1) },
        "expansion": { $0.response.expansion = Int64($1) },
        "maximumRedirects": { $0.response.maximumRedirects = $1 },
        "entityBytes": { $0.entityBytes = $1 },
        "entityValues": { $0.entityValues = $1 },
        "fruitlessPages": { $0.fruitlessPages = $1 },
    ]

    init(_ text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { throw ValidationError("'\(text)' does not have the form NAME=VALUE.") }
        let (name, value) = (parts[0], parts[1])
        if let time = Self.times[name] {
            let seconds = Double(value)
            guard value == "none" || seconds.map({ $0 > 0 && $0 <= 31_536_000 }) == true else {
                throw ValidationError("\(name) must be a number of seconds greater than 0, or none.")
            }
            let duration = seconds.map { Duration.milliseconds(Int($0 * 1_000)) }
            apply = { time(&$0, duration) }
        } else if let count = Self.counts[name] {
            guard let number = Int(value), number > 0 else { throw ValidationError("\(name) must be greater than 0.") }
            apply = { count(&$0, number) }
        } else {
            throw ValidationError("'\(name)' is not a limit.")
        }
    }
}
