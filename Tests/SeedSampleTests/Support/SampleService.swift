import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The version of the protocol that a sample is run with.
enum Dialect: String, CaseIterable, CustomTestStringConvertible {
    case v2, v4

    var testDescription: String { rawValue.uppercased() }
}

/// A generated service over a store that holds everything that its service has, in a directory of its own.
final class SampleService<Service: DataService> {
    let service: Service
    let provider: OfflineODataProvider
    /// Asks the service itself, for comparison.
    let server: Service
    let transport: SandboxTransport
    private let directory: TemporaryDirectory
    var storePath: String { directory.path }

    init(
        _ sandbox: Sandbox, _ dialect: Dialect, queries: [OfflineODataDefiningQuery]? = nil,
        seed: (Service) async throws -> Void = { _ in }, make: (any DataServiceProvider) -> Service
    ) async throws {
        var sandbox = sandbox
        sandbox.origin = "http://samples.test"
        transport = SandboxTransport(sandbox)
        directory = TemporaryDirectory()
        let root = "http://samples.test/\(dialect.rawValue)/"
        server = make(OnlineODataProvider(serviceRoot: root, transport: transport))
        try await server.loadMetadata()
        try await seed(server)
        provider = OfflineODataProvider(
            serviceRoot: root,
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        for query in try queries ?? OfflineODataDefiningQuery.all(of: server.metadata) {
            try await provider.add(definingQuery: query)
        }
        try await provider.open()
        try await provider.download()
        service = make(provider)
    }

    /// Sends everything and downloads: nothing may be refused or left.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: location)
        #expect(report.remaining == 0, sourceLocation: location)
        try await provider.download()
    }

    /// The entities that a navigation property leads to in the store now.
    func related(_ entity: EntityValue, _ property: some PropertyReference) async throws -> [EntityValue] {
        try await Self.load(entity.readLink, entity.entityType, property, service)
    }

    /// The keys of what a navigation property leads to on the service.
    func keysOnServer(_ entity: EntityValue, _ property: some PropertyReference) async throws -> [KeyPredicate] {
        let current = EntityValue(entity.entityType)
        current.readLink = entity.readLink
        try await service.loadEntity(current)
        return try await Self.load(current.readLink, entity.entityType, property, server).compactMap(\.key)
    }

    private static func load(
        _ readLink: String?, _ type: EntityType, _ property: some PropertyReference, _ service: Service
    ) async throws -> [EntityValue] {
        let again = EntityValue(type)
        again.readLink = readLink
        try await service.loadProperty(property, into: again)
        return again.relatedEntities(property)
    }
}

/// Files of the checkout that these tests were compiled from.
enum Checkout {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    static func metadata(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: root.appending(path: "Tests/SeedSampleTests/Metadata/\(name).xml")))
    }

    static func swiftFiles(_ folder: String) throws -> [String: String] {
        let files = try FileManager.default.contentsOfDirectory(
            at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return Dictionary(
            uniqueKeysWithValues: try files.filter { $0.pathExtension == "swift" }.map {
                ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
            })
    }
}
