internal import ArgumentParser
internal import Tidelog

/// The program `tidelog-endure`: a device of `Tools/endure`. It works until its process is killed.
///
/// Prints a line on standard output after each operation that the store has acknowledged, and about its resources.
@main
struct Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-endure", abstract: "Works on a store of the sandbox's shop until it is killed.")

    @Option(help: "The service root.")
    var root: String

    @Option(help: "The folder of the store.")
    var store: String

    @Option(help: "The name of the device: the beginning of the names of its entities.")
    var name: String

    @Flag(help: "Sends all operations that can be sent, prints the content of the store, and ends.")
    var drain = false

    func run() async throws {
        let device = try await EnduringDevice(root: root, store: store, name: name)
        if drain {
            try await device.drain()
        } else {
            try await device.work()
        }
    }
}
