internal import ArgumentParser
internal import Tidelog

struct ClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Delete the store.",
        discussion: """
            Fails while operations are pending, because only the store contains them. Files that are not part of the \
            store stay, and so does their directory. Needs no network.
            """)

    @Flag(help: "Delete the store even if operations are pending or the store cannot be read.")
    var force = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await OfflineODataProvider(parameters: try options.parameters).clear(force: force)
        try Console.print("Deleted the store \(options.store).")
    }
}
