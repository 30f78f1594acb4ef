internal import ArgumentParser
internal import Foundation
internal import ProxyGenerator

/// `tidelog-proxygen`: metadata in, Swift sources out.
@main
struct Command: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidelog-proxygen",
        abstract: "Generates Swift classes from the metadata of an OData service.",
        discussion: """
            Writes a class for each entity type, one for the service with functions for each entity set, and the metadata \
            itself, so that entities can be made without asking the service. The same metadata gives the same sources.
            """)

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The metadata document. Without it, standard input.", valueName: "file")
    )
    var metadata: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The service's class. Without it, the entity container's name.", valueName: "name"))
    var service: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The directory to write to; made where it is missing.", valueName: "directory"))
    var destination = "."

    @Flag(name: .customLong("internal"), help: "Generate internal classes instead of public ones.")
    var isInternal = false

    @Option(help: ArgumentHelp("What the names of all classes but a given service begin with.", valueName: "text"))
    var prefix = ""

    func run() throws {
        let document = try read()
        let sources: ProxySources
        do throws(ProxyError) {
            sources = try ProxySources(
                metadata: document,
                options: ProxyOptions(service: service, prefix: prefix, isInternal: isInternal))
        } catch {
            if case .invalidName = error { throw ValidationError(error.description) }
            throw Failure("\(metadata ?? "standard input"): \(error)")
        }
        try Output(directory: URL(filePath: destination, directoryHint: .isDirectory)).write(sources.files)
    }

    private func read() throws -> [UInt8] {
        if let path = metadata, path != "-" {
            do {
                return [UInt8](try Data(contentsOf: URL(filePath: path)))
            } catch {
                throw Failure("\(path) cannot be read: \(error.localizedDescription)")
            }
        }
        guard isatty(STDIN_FILENO) == 0 else {
            throw ValidationError("Name the metadata document with --metadata, or pipe it in.")
        }
        return [UInt8](try FileHandle.standardInput.readToEnd() ?? Data())
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
