import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The protocol version with which a sample runs.
enum Dialect: String, CaseIterable, CustomTestStringConvertible {
    case v2, v4

    var testDescription: String { rawValue.uppercased() }
}

/// A generated service with a store in a new directory. The store contains everything that the service has.
final class SampleService<Service: DataService> {
    let service: Service
    let provider: OfflineODataProvider
    /// The same service without a store, for comparison.
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

    /// Uploads and downloads, and expects that no operation is rejected or still pending.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        let report = try await provider.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: location)
        #expect(report.remaining == 0, sourceLocation: location)
        try await provider.download()
    }

    /// Returns the current targets of a navigation property in the store.
    func related(_ entity: EntityValue, _ property: some PropertyReference) async throws -> [EntityValue] {
        try await Self.load(entity.readLink, entity.entityType, property, service)
    }

    /// Returns the keys of the targets of a navigation property at the service.
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

/// The files of the checkout from which these tests were compiled.
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
