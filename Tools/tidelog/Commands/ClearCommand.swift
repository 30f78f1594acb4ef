internal import ArgumentParser
internal import Tidelog

struct ClearCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Delete the store.",
        discussion: """
            Refused while operations are pending, since nobody else has them. Files that are no part of the store stay, and \
            the directory with them. Needs no network.
            """)

    @Flag(help: "Delete the store with what is pending, or although it cannot be read.")
    var force = false

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await OfflineODataProvider(parameters: try options.parameters).clear(force: force)
        try Console.print("The store \(options.store) is deleted.")
    }
}
