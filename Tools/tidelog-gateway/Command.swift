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
        subcommands: [Serve.self, Check.self, Ledger.self])
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

    func storage(_ configuration: GatewayConfiguration) throws -> any LedgerStorage {
        switch configuration.storage {
        case .memory: return MemoryLedgerStorage()
        case .sqlite(let path):
            // The ledger contains answers of the service.
            let mask = umask(0o077)
            defer { umask(mask) }
            do throws(LedgerStorageError) {
                return try SQLiteLedgerStorage(path: path)
            } catch {
                throw Failure("\(error)")
            }
        }
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs the gateway until it is interrupted.",
        discussion: """
            Prints the address when it is ready. SIGTERM and SIGINT stop it: it first completes requests in progress, \
            for at most thirty seconds. It may be killed at any time.
            """)

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let signals = StopSignals()
        let configuration = try options.read()
        let storage = try options.storage(configuration)
        var secret = try await storage.secret()
        if let file = configuration.keyFile {
            guard let bytes = TextFile.read(file), bytes.count >= 16 else {
                throw Failure("\(file) cannot be read, or has fewer than 16 bytes. Write a random secret to it.")
            }
            secret = bytes
        }
        let service = GatewayService(configuration, storage: storage, secret: secret)
        let server: GatewayServer
        do throws(GatewayServer.ListenError) {
            server = try await GatewayServer(service)
        } catch {
            throw Failure("\(error)")
        }
        print("ready \(server.port)")
        for endpoint in configuration.endpoints {
            print("\(configuration.publicRoot.endpoint(endpoint.name)) -> \(endpoint.root)")
        }
        fflush(nil)
        let forgetting = Task { await Self.forget(storage, days: configuration.ledgerDays) }
        await signals.wait()
        forgetting.cancel()
        await server.stop()
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
        abstract: "Checks the configuration without opening a port or a file.")

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.read()
        for endpoint in configuration.endpoints {
            print("\(configuration.publicRoot.endpoint(endpoint.name)) -> \(endpoint.root)")
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
        let storage = try options.storage(configuration)
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
