import Foundation
import Testing
import Tidelog

/// A store of a service and the service itself, to be compared.
final class Workplace {
    let root: String
    let sets: [String]
    let store: OfflineODataProvider
    let service: DataService
    let server: DataService
    private let directory: URL

    /// - Parameter queries: the store's defining queries, named by their set.
    init(_ root: String, queries: [String: String]) async throws {
        self.root = root
        sets = queries.keys.sorted()
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("tidelog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        server = DataService(provider: OnlineODataProvider(serviceRoot: root))
        try await server.loadMetadata()
        store = OfflineODataProvider(
            serviceRoot: root, parameters: OfflineODataParameters(storePath: directory.path))
        for name in sets {
            try await store.add(definingQuery: OfflineODataDefiningQuery(name: name, query: queries[name] ?? name))
        }
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func set(_ name: String) throws -> EntitySet { try service.entitySet(withName: name) }

    /// `Customers/Orders`.
    func property(_ path: String) throws -> Property {
        let parts = path.split(separator: "/").map(String.init)
        return try set(parts[0]).entityType.property(withName: parts[1])
    }

    func new(_ name: String, _ values: [String: Value] = [:]) throws -> EntityValue {
        let entity = EntityValue(try set(name).entityType)
        entity.entitySet = try set(name)
        for (property, value) in values { entity[property] = value }
        return entity
    }

    /// The entity of the service whose property has that value.
    func onServer(_ name: String, _ property: String, _ value: String) async throws -> EntityValue {
        let query = DataQuery().from(try set(name)).filter(try self.property("\(name)/\(property)").equal(value))
        return try await server.executeQuery(query).requiredEntity()
    }

    /// Uploads and expects that everything was confirmed.
    func push(_ location: SourceLocation = #_sourceLocation) async throws {
        let report = try await store.upload()
        for (operation, refusal) in report.rejected {
            Issue.record("\(operation): \(refusal)", sourceLocation: location)
        }
        #expect(report.inDoubt.isEmpty, sourceLocation: location)
        for status in try await store.operationStatus() {
            Issue.record("\(status)", sourceLocation: location)
        }
    }

    /// Uploads, downloads, and expects that the store then says what the service says.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        try await push(location)
        try await store.download()
        for name in sets {
            let local = try await text(of: name, by: service)
            let remote = try await text(of: name, by: server)
            #expect(local == remote, "\(name)", sourceLocation: location)
        }
    }

    /// The keys of what a navigation property leads to on the service.
    func linkedOnServer(_ entity: EntityValue, _ navigation: String) async throws -> [String] {
        try await linked(entity, navigation, by: server)
    }

    /// The keys of what a navigation property leads to in the store.
    func linkedHere(_ entity: EntityValue, _ navigation: String) async throws -> [String] {
        try await linked(entity, navigation, by: service)
    }

    private func linked(_ entity: EntityValue, _ navigation: String, by service: DataService) async throws -> [String] {
        let current = EntityValue(entity.entityType)
        current.readLink = entity.readLink
        try await self.service.loadEntity(current)
        let property = try entity.entityType.property(withName: navigation)
        try await service.loadProperty(property, into: current)
        return current.relatedEntities(property).map { key(of: $0) }.sorted()
    }

    /// The entities of a set with their values and the keys of what they are linked to, in the order of their keys.
    private func text(of name: String, by service: DataService) async throws -> String {
        let set = try set(name)
        let held = set.entityType.navigationProperties.filter { property in
            service.metadataTarget(of: property, in: set).map { sets.contains($0) } ?? false
        }
        var query = DataQuery().from(set)
        for property in held { query = query.expand(property) }
        return try await service.executeQuery(query).entityList().map { entity in
            let values = entity.properties.filter { $0.value != .null }.sorted { $0.name < $1.name }
                .map { "\($0.name): \($0.value)" }
            let links = held.map { property in
                "\(property.name): \(entity.relatedEntities(property).map { key(of: $0) }.sorted())"
            }
            return "\(key(of: entity)) \(entity.etag ?? "") \(values) \(links)"
        }.sorted().joined(separator: "\n")
    }

    private func key(of entity: EntityValue) -> String {
        entity.key.map { $0.values.map { "\($0.value)" }.joined(separator: ",") } ?? "no key"
    }
}

extension DataService {
    fileprivate func metadataTarget(of property: Property, in set: EntitySet) -> String? {
        (try? metadata)?.target(of: property, in: set)?.name
    }
}
