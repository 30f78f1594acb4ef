import Foundation
import Testing
import Tidelog

/// A store and its service, to be compared with each other.
final class Workplace {
    let root: String
    let sets: [String]
    let store: OfflineODataProvider
    let service: DataService
    let server: DataService
    private let directory: URL

    /// Opens a store of the service.
    ///
    /// - Parameters:
    ///   - root: The service root.
    ///   - queries: The defining queries of the store, by the name of their set.
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

    /// Sends repeatable requests, whose support by a gateway the metadata of a V2 service do not declare.
    func makeRepeatable() async throws {
        var options = try await store.serviceOptions
        options.repeatability = .sap
        try await store.use(options)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func set(_ name: String) throws -> EntitySet { try service.entitySet(withName: name) }

    /// Returns the property for a path such as `Customers/Orders`.
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

    /// Returns the entity of the service whose property has this value.
    func onServer(_ name: String, _ property: String, _ value: String) async throws -> EntityValue {
        let query = DataQuery().from(try set(name)).filter(try self.property("\(name)/\(property)").equal(value))
        return try await server.executeQuery(query).requiredEntity()
    }

    /// Uploads, and expects that every operation is confirmed.
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

    /// Uploads and downloads, and expects that the store and the service then have the same content.
    func synchronize(_ location: SourceLocation = #_sourceLocation) async throws {
        try await push(location)
        try await store.download()
        for name in sets {
            let local = try await text(of: name, by: service)
            let remote = try await text(of: name, by: server)
            #expect(local == remote, "\(name)", sourceLocation: location)
        }
    }

    /// Returns the keys of the targets of a navigation property at the service.
    func linkedOnServer(_ entity: EntityValue, _ navigation: String) async throws -> [String] {
        try await linked(entity, navigation, by: server)
    }

    /// Returns the keys of the targets of a navigation property in the store.
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

    /// Returns the entities of a set, in the order of their keys, with their values and the keys of the linked
    /// entities.
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
