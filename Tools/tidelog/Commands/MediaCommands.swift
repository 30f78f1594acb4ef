internal import ArgumentParser
internal import EDM
internal import OfflineStore
internal import Tidelog

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

struct MediaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "media", abstract: "Read and write the streams of media entities and stream properties.",
        subcommands: [
            MediaGetCommand.self, MediaPutCommand.self, MediaCreateCommand.self, MediaVerifyCommand.self,
        ])
}

/// The arguments that select a stream of an entity.
struct StreamArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("A readLink or editLink of the entity.", valueName: "ref"))
    var reference: String

    @Option(help: "The stream property; by default the stream of a media entity.")
    var property: String?

    func entity(_ service: DataService) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL(reference)).requiredEntity()
    }

    func property(of entity: EntityValue) throws -> Property? {
        guard let property else { return nil }
        guard let found = entity.entityType.findProperty(property) else {
            throw CommandFailure("\(entity.entityType.name) has no property \(property).")
        }
        return found
    }
}

struct MediaGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Write the content of a stream to standard output.",
        discussion: """
            Reads the content in the store, including content that waits for a push. If the store has none, reads it \
            from the service.
            """)

    @Flag(help: "Read the content from the service even if the store has it.")
    var refresh = false

    @OptionGroup var stream: StreamArguments
    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions

    func run() async throws {
        if !refresh, try await options.withStore({ try await printLocal($0) }) { return }
        try await access.withStore(options) { provider in
            let service = DataService(provider: provider)
            let entity = try await stream.entity(service)
            let property = try stream.property(of: entity)
            let read =
                if let property {
                    try await service.downloadStream(entity: entity, property: property)
                } else {
                    try await service.downloadMedia(entity: entity)
                }
            // Locally written content remains visible to the app.
            guard let found = try await local(entity, property, service) ?? read else {
                throw CommandFailure("\(stream.reference) has no content.")
            }
            try found.read { try Console.write($0) }
        }
    }

    /// Prints the content in the store. Returns false if there is none. Needs no network.
    private func printLocal(_ provider: OfflineODataProvider) async throws -> Bool {
        let service = DataService(provider: provider)
        let entity = try await stream.entity(service)
        guard let found = try await local(entity, try stream.property(of: entity), service) else { return false }
        try found.read { try Console.write($0) }
        return true
    }

    private func local(
        _ entity: EntityValue, _ property: Property?, _ service: DataService
    ) async throws -> LocalStream? {
        if let property { return try await service.localStream(entity: entity, property: property) }
        return try await service.localMedia(entity: entity)
    }
}

/// The arguments for the bytes to write.
struct ContentArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The file with the content.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The media type, such as 'image/jpeg'.", valueName: "media type"))
    var type: String

    func validate() throws {
        guard type.contains("/") else { throw ValidationError("'\(type)' is not a media type such as image/jpeg.") }
    }

    var content: MediaContent { MediaContent(file: URL(fileURLWithPath: file), mediaType: type) }
}

struct MediaPutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Replace the content of a stream; the next push sends it.")

    @OptionGroup var stream: StreamArguments
    @OptionGroup var content: ContentArguments
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            let service = DataService(provider: provider)
            let entity = try await stream.entity(service)
            if let property = try stream.property(of: entity) {
                try await service.uploadStream(entity: entity, property: property, content: content.content)
            } else {
                try await service.uploadMedia(entity: entity, content: content.content)
            }
            try Console.print("\(entity.lastOperation.map { "\($0) " } ?? "")write \(stream.reference)")
        }
    }
}

struct MediaCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a media entity with its content; the next push sends it.")

    @Argument(help: ArgumentHelp("The entity set.", valueName: "set"))
    var set: String

    @OptionGroup var content: ContentArguments
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            let service = DataService(provider: provider)
            try await service.loadMetadata()
            let set = try service.entitySet(withName: set)
            let entity = EntityValue(set.entityType)
            entity.entitySet = set
            try await service.createMedia(entity, content: content.content)
            try Console.print(entity.readLink ?? "")
        }
    }
}

struct MediaVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check every stream of the store, and list missing and damaged ones.",
        discussion: "Opens the store. Exits with 2 if there are any.")

    @OptionGroup var options: StoreOptions

    func run() async throws {
        let damaged = try await options.withStore { try await $0.damagedStreams() }
        for sentence in damaged { try Console.print(sentence) }
        guard damaged.isEmpty else { throw ReportedFailure(status: .damage) }
        try Console.print("No stream is missing or damaged.")
    }
}
