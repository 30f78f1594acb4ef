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

extension ConfigurationOptions {
    /// Opens the ledger.
    func storage(_ configuration: GatewayConfiguration) async throws -> any LedgerStorage {
        do throws(LedgerStorageError) {
            switch configuration.storage {
            case .memory: return MemoryLedgerStorage()
            case .sqlite(let path):
                // The ledger contains answers of the service.
                let mask = umask(0o077)
                defer { umask(mask) }
                return try SQLiteLedgerStorage(path: path)
            case .postgres(let settings): return try await PostgresLedgerStorage(settings)
            }
        } catch {
            throw Self.failure(error, configuration)
        }
    }

    /// Opens the storage of shared feeds, if the configuration has some: a file next to the ledger, or the same database.
    func feedStorage(_ configuration: GatewayConfiguration) async throws -> (any FeedStorage)? {
        guard configuration.endpoints.contains(where: { !$0.feeds.isEmpty }) else { return nil }
        do throws(LedgerStorageError) {
            switch configuration.storage {
            case .memory: return MemoryFeedStorage()
            case .sqlite(let path):
                let mask = umask(0o077)
                defer { umask(mask) }
                return try SQLiteFeedStorage(path: path + "-feeds")
            case .postgres(let settings): return try await PostgresFeedStorage(settings)
            }
        } catch {
            throw Self.failure(error, configuration)
        }
    }

    /// Errors of PostgreSQL name the place themselves.
    private static func failure(_ error: LedgerStorageError, _ configuration: GatewayConfiguration) -> Failure {
        guard case .sqlite = configuration.storage, let place = configuration.places["storage"] else {
            return Failure("\(error)")
        }
        return Failure("\(place.file):\(place.line): \(error)")
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates or updates the tables in PostgreSQL.",
        discussion: """
            Also serve does this when it starts. The command is for operators whose gateway runs as a database user \
            without the right to create tables.
            """)

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Roll the changes back, and list them.")
    var dryRun = false

    func run() async throws {
        guard case .postgres(let settings) = try options.read().storage else {
            print("The storage is SQLite, whose tables serve updates.")
            return
        }
        do throws(LedgerStorageError) {
            let versions = try await PostgresLedgerStorage.migrate(settings, isDry: dryRun)
            let list = versions.map(String.init).joined(separator: ", ")
            print(versions.isEmpty ? "The tables are up to date." : "Migrations\(dryRun ? " to do" : ""): \(list)")
        } catch {
            throw Failure("\(error)")
        }
    }
}
