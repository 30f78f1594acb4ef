internal import ArgumentParser
internal import EDM
internal import OfflineStore
internal import OperationLog
internal import Tidelog

/// The options of every command that uses a store.
struct StoreOptions: ParsableArguments {
    @Option(help: "The directory of the store.")
    var store = ".tidelog"

    @Option(help: ArgumentHelp("The configuration file for downloads; see Docs/DefiningQueries.md.", valueName: "file"))
    var config: String?

    /// The parameters for commands without network: nothing can be sent, and there are no credentials. See
    /// ``ServiceAccess``.
    var parameters: OfflineODataParameters {
        get throws {
            let keys = try [LogKey].fromEnvironment()
            var parameters = OfflineODataParameters(
                storePath: store, transport: NoTransport(), storeEncryptionKey: keys.first,
                formerEncryptionKeys: Array(keys.dropFirst()))
            parameters.configuration = try config.map { path in
                var reader = try LineReader(path: path)
                let (name, bytes) = (reader.name, try reader.rest())
                return try OfflineODataConfiguration(text: String(decoding: bytes, as: UTF8.self), place: name)
            }
            return parameters
        }
    }

    /// Opens the store without a service, runs the body, and closes the store.
    func withStore<T>(_ body: (OfflineODataProvider) async throws -> T) async throws -> T {
        try await Self.open(OfflineODataProvider(parameters: try parameters), body)
    }

    static func open<T>(_ provider: OfflineODataProvider, _ body: (OfflineODataProvider) async throws -> T) async throws
        -> T
    {
        try await opened(provider)
        do {
            let result = try await body(provider)
            await reportViews(provider)
            await provider.close()
            return result
        } catch {
            await reportViews(provider)
            await provider.close()
            throw error
        }
    }

    private static func reportViews(_ provider: OfflineODataProvider) async {
        for note in await provider.viewsNotes { Console.printError("tidelog: \(note)") }
    }

    /// Opens the store, and prints the repairs that were necessary.
    static func opened(_ provider: OfflineODataProvider) async throws {
        try await provider.open()
        for note in provider.recoveryNotes { Console.printError("tidelog: \(note)") }
    }
}

/// The option `--json`, on commands that can print for programs.
struct FormatOptions: ParsableArguments {
    @Flag(help: "Print JSON, one object per line.")
    var json = false
}
