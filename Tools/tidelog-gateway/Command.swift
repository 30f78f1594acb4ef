internal import ArgumentParser
internal import Gateway
internal import GatewayCore

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// `tidelog-gateway`: a gateway for OData services that lack repeatable requests.
@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-gateway",
        abstract: "Runs a gateway that forwards OData requests and executes repeated uploads once.",
        subcommands: [Serve.self, Check.self, Ledger.self, Feeds.self, Migrate.self])
}

/// The options of every command.
struct ConfigurationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "FILE"))
    var config: String

    /// Reads the configuration and prints its notices.
    func read() throws -> GatewayConfiguration {
        guard let bytes = TextFile.read(config) else {
            throw Failure("\(config) cannot be read. Check the path and the permissions.")
        }
        do throws(ConfigurationError) {
            let (configuration, notices) = try ConfigurationReader.read(
                String(decoding: bytes, as: UTF8.self), file: config)
            for notice in notices { StandardError.write("\(notice)\n") }
            return configuration
        } catch {
            throw Failure("\(error)")
        }
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the gateway until it is interrupted.",
        discussion: """
            Prints the address when it is ready. SIGTERM, SIGINT and SIGHUP stop it: it first completes requests in \
            progress, for at most thirty seconds. It may be killed at any time.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let signals = StopSignals()
        let configuration = try options.read()
        let files = try NamedFiles(configuration)
        let storage = try await options.storage(configuration)
        let stored = try await storage.secret()
        if let postgres = storage as? PostgresLedgerStorage {
            for warning in await postgres.warnings() { StandardError.write("\(warning)\n") }
        }
        var environment = GatewayEnvironment()
        environment.makesTraces = true
        let service = GatewayService(
            configuration, storage: storage, feedStorage: try await options.feedStorage(configuration),
            secret: files.secret ?? stored, credentials: files.credentials, environment: environment)
        let server: GatewayServer
        do throws(GatewayServer.ListenError) {
            server = try await GatewayServer(service)
        } catch {
            throw Failure("\(configuration.error("listen", error.description, NamedFiles.addressFix))")
        }
        let admin = try await Self.admin(service, configuration)
        print("ready \(server.port)")
        for endpoint in configuration.endpoints {
            print("\(configuration.publicRoot.endpoint(endpoint.name)) -> \(endpoint.root)")
        }
        fflush(nil)
        let forgetting = Task { await Self.forget(storage, days: configuration.ledgerDays) }
        let watching = Task { await service.watch() }
        let sweeping = Task { await service.sweep() }
        await signals.wait()
        forgetting.cancel()
        sweeping.cancel()
        await server.stop(announced: configuration.drainSeconds * 1_000)
        watching.cancel()
        await admin?.stop()
    }

    private static func admin(
        _ service: GatewayService, _ configuration: GatewayConfiguration
    ) async throws -> AdminServer? {
        guard let address = configuration.admin else { return nil }
        do throws(GatewayServer.ListenError) {
            return try await AdminServer(service, address)
        } catch {
            throw Failure("\(configuration.error("admin", error.description, NamedFiles.addressFix))")
        }
    }

    /// Deletes expired rows once an hour.
    private static func forget(_ storage: any LedgerStorage, days: Int) async {
        let rules = LedgerRules(days: days, leaseMilliseconds: 0)
        while !Task.isCancelled {
            while let count = try? await storage.forget(rules, limit: 1_000), count == 1_000 {}
            try? await Task.sleep(for: .seconds(3_600))
        }
    }
}

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks the configuration and the files that it names.",
        discussion: "Opens no port and no database, and sends nothing.")

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.read()
        _ = try NamedFiles(configuration)
        if case .sqlite(let path) = configuration.storage, !TextFile.hasFolder(path) {
            let notice = configuration.error(
                "storage", "The folder of \(path) does not exist.", "Create it before the gateway is started.")
            StandardError.write("\(notice)\n")
        }
        for endpoint in configuration.endpoints {
            print("\(configuration.publicRoot.endpoint(endpoint.name)) -> \(endpoint.root)")
        }
    }
}

struct Feeds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the shared feeds.",
        discussion: """
            A feed whose refresh would remove most of its rows is not published. If the rows are really gone, --accept \
            lets the next refresh remove them.
            """)

    @OptionGroup var options: ConfigurationOptions

    @Option(help: ArgumentHelp("Let the next refresh of this feed remove most rows.", valueName: "NAME"))
    var accept: String?

    func run() async throws {
        let configuration = try options.read()
        guard let storage = try await options.feedStorage(configuration) else { return }
        let feeds = configuration.endpoints.flatMap { endpoint in endpoint.feeds.map { (endpoint.name, $0) } }
        if let accept {
            let chosen = feeds.filter { $0.1.name == accept }
            guard !chosen.isEmpty else {
                throw Failure(
                    "There is no feed \(accept). The feeds are \(feeds.map(\.1.name).joined(separator: ", ")).")
            }
            for (endpoint, feed) in chosen {
                _ = try await storage.acceptRemovals(endpoint: endpoint, query: feed.query.description)
            }
        }
        for (identity, head) in try await storage.list() {
            let trouble = head.trouble.map { ": \($0)" } ?? ""
            print(
                "\(identity.endpoint) \(identity.query) generation \(head.generation), \(head.rows) rows\(trouble)")
        }
    }
}

struct Ledger: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the requests in the ledger, without their contents.")

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "List only requests whose outcome is not known.")
    var doubt = false

    @Option(help: "The maximum number of requests.")
    var limit = 1_000

    func run() async throws {
        let configuration = try options.read()
        let storage = try await options.storage(configuration)
        for row in try await storage.rows(in: doubt ? .doubt : nil, limit: limit) {
            print(
                "\(row.key.endpoint) \(row.key.client) \(row.key.request) day \(row.key.day) \(row.state) attempt \(row.attempt)"
            )
        }
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
