import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// The seeded Shop with one client: a store with everything downloaded, or the service itself.
final class Shop {
    static let sets = [
        "Customers", "Orders", "Owners", "Cars", "Cities", "Mayors", "Fathers", "Children", "Persons", "IDCards",
        "Suppliers", "Products", "Visits", "Prices",
    ]

    /// Defining queries of all sets. Only an expansion delivers a relationship without a referential constraint.
    static let everything = sets.map {
        OfflineODataDefiningQuery(name: $0, query: $0 == "Suppliers" ? "/Suppliers?$expand=Products" : "/\($0)")
    }

    let client: Client
    let transport: SandboxTransport
    /// The store; nil if the client is online.
    let store: OfflineODataProvider?
    let service: DataService
    /// A client of the service itself, for comparison.
    let server: DataService
    private let directory: TemporaryDirectory

    /// - Parameters:
    ///   - queries: The defining queries of the store; one for each of ``sets`` if nil.
    ///   - capabilities: The capabilities of the service.
    ///   - options: The service options of the client.
    init(
        _ client: Client, queries: [OfflineODataDefiningQuery]? = nil, capabilities: Capabilities = Capabilities(),
        options: ServiceOptions? = nil, adjusting: (inout OfflineODataParameters) -> Void = { _ in }
    ) async throws {
        self.client = client
        directory = try TemporaryDirectory()
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        sandbox.options.capabilities = capabilities
        transport = SandboxTransport(sandbox)
        let root = "http://shop.test/\(client.dialect.rawValue)/"
        server = DataService(
            provider: OnlineODataProvider(serviceRoot: root, transport: transport, serviceOptions: options))
        try await server.loadMetadata()
        if client.isOnline {
            store = nil
            service = server
            return
        }
        var parameters = OfflineODataParameters(
            storePath: directory.path, transport: transport, serviceOptions: options)
        adjusting(&parameters)
        let provider = OfflineODataProvider(serviceRoot: root, parameters: parameters)
        for query in queries ?? Self.everything {
            try await provider.add(definingQuery: query)
        }
        try await provider.open()
        try await provider.download()
        store = provider
        service = DataService(provider: provider)
    }

    // MARK: The model

    func set(_ name: String) throws -> EntitySet { try service.entitySet(withName: name) }

    /// Returns a property of the entities of a set by its path, such as `Customers/Orders`.
    func property(_ path: String) throws -> Property {
        let parts = path.split(separator: "/").map(String.init)
        return try set(parts[0]).entityType.property(withName: parts[1])
    }

    /// Returns a new entity of a set with only the given values.
    func new(_ name: String, _ values: [String: Value] = [:]) throws -> EntityValue {
        let entity = EntityValue(try set(name).entityType)
        for (property, value) in values { entity[property] = value }
        return entity
    }

    // MARK: Reading

    func fetch(_ name: String, matching query: DataQuery = DataQuery()) async throws -> [EntityValue] {
        try await service.executeQuery(query.from(try set(name))).entityList()
    }

    func first(_ name: String, matching query: DataQuery = DataQuery()) async throws -> EntityValue {
        try await service.executeQuery(query.from(try set(name))).requiredEntity()
    }

    /// Returns the entity with the given key.
    func one(_ name: String, _ key: Int) async throws -> EntityValue {
        guard let property = try set(name).entityType.keyProperties.first else { throw NoKey() }
        return try await first(name, matching: DataQuery().filter(property.equal(key)))
    }

    /// Returns a copy without a key, which can be created: the sample code ignores that a copy has the key of its
    /// original.
    func copyWithoutKey(_ entity: EntityValue) -> EntityValue {
        let copy = entity.copy()
        for property in entity.entityType.keyProperties { copy.unsetDataValue(for: property) }
        return copy
    }

    /// Loads and returns the targets of a navigation property.
    func related(_ entity: EntityValue, _ navigation: String) async throws -> [EntityValue] {
        let again = EntityValue(entity.entityType)
        again.readLink = entity.readLink
        let property = try entity.entityType.property(withName: navigation)
        try await service.loadProperty(property, into: again)
        return again.relatedEntities(property)
    }

    // MARK: Expectations

    /// Whether two entities are linked, from both ends, by queries and by expansion. Records an issue if these
    /// disagree.
    func areLinked(_ a: EntityValue, _ there: String, _ b: EntityValue, _ back: String) async throws -> Bool {
        var seen: [Bool] = []
        for (from, navigation, to) in [(a, there, b), (b, back, a)] {
            // A former readLink resolves to the entity, but is not its current one.
            let target = EntityValue(to.entityType)
            target.readLink = to.readLink
            try await service.loadEntity(target)
            seen.append(try await related(from, navigation).contains { $0.readLink == target.readLink })
            let expanded = EntityValue(from.entityType)
            expanded.readLink = from.readLink
            let property = try from.entityType.property(withName: navigation)
            try await service.loadEntity(expanded, DataQuery().expand(property))
            seen.append(expanded.relatedEntities(property).contains { $0.readLink == target.readLink })
        }
        #expect(Set(seen).count == 1, "The ends and ways to look at the link disagree: \(seen)")
        return seen.allSatisfy { $0 }
    }

    /// Uploads and downloads. Expects that no operation is rejected, and that the store and the service agree
    /// afterwards. Has no effect online.
    ///
    ///  - Parameter answersTellAll: False if the service's responses to creates do not contain the created entities.
    func synchronize(answersTellAll: Bool = true, _ location: SourceLocation = #_sourceLocation) async throws {
        guard let store else { return }
        let report = try await store.upload()
        #expect(report.rejected.isEmpty, "\(report.rejected)", sourceLocation: location)
        #expect(report.inDoubt.isEmpty, sourceLocation: location)
        #expect(report.remaining == 0, sourceLocation: location)
        // A link may change an ETag that the response does not contain.
        if answersTellAll { try await expectAgreement("before the download", etags: false, location) }
        try await store.download()
        try await expectAgreement("after the download", etags: true, location)
    }

    private func expectAgreement(_ when: String, etags: Bool, _ location: SourceLocation) async throws {
        for name in Self.sets {
            let local = try await ShopText.text(of: name, by: service, etags: etags)
            let remote = try await ShopText.text(of: name, by: server, etags: etags)
            #expect(local == remote, "\(name) \(when)", sourceLocation: location)
        }
    }

    /// Returns the keys and links of sets at the service.
    func serverLinks(_ sets: String...) -> String { transport.sandbox.stateText(of: sets, values: false) }

    /// Returns the complete state of the service.
    func serverState() -> String { transport.sandbox.stateText() }

    func setPageSize(_ size: Int?) { transport.change { $0.options.pageSize = size } }

    /// Expects that the call is refused with this code and does not change the store.
    func expectRefusal(
        _ code: TidelogError.Code, _ location: SourceLocation = #_sourceLocation,
        by call: () async throws -> Void
    ) async throws {
        let before = try await store?.stateDigest()
        let pending = try await store?.operationStatus()
        do {
            try await call()
            Issue.record("Nothing was refused.", sourceLocation: location)
        } catch let error as TidelogError {
            #expect(error.code == code, "\(error)", sourceLocation: location)
        }
        #expect(try await store?.stateDigest() == before, sourceLocation: location)
        #expect(try await store?.operationStatus() == pending, sourceLocation: location)
    }

    struct NoKey: Error {}
}

/// The entities of a set as sorted text, with their values and the keys of linked entities.
enum ShopText {
    static func text(of name: String, by service: DataService, etags: Bool) async throws -> String {
        let set = try service.entitySet(withName: name)
        var query = DataQuery().from(set)
        for property in set.entityType.navigationProperties { query = query.expand(property) }
        return try await service.executeQuery(query).entityList().map { line($0, etag: etags) }.sorted().joined(
            separator: "\n")
    }

    private static func line(_ entity: EntityValue, etag: Bool) -> String {
        let values = entity.properties.filter { $0.value != .null }.sorted { $0.name < $1.name }
        let links = entity.entityType.navigationProperties.map { property in
            let keys = entity.relatedEntities(property).map { key(of: $0) }.sorted()
            return "\(property.name): \(keys.joined(separator: ", "))"
        }
        let pairs = values.map { "\($0.name): \($0.value)" }
        let version = etag ? entity.etag ?? "" : ""
        return "\(key(of: entity)) \(version) {\(pairs.joined(separator: ", "))} \(links)"
    }

    private static func key(of entity: EntityValue) -> String {
        entity.key.map { $0.values.map { "\($0.value)" }.joined(separator: ",") } ?? "no key"
    }
}

/// A directory that is removed with the last reference to it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tidelog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
