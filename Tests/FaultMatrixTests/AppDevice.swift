import EDM
import HTTPTypes
import OfflineStore
import Synchronization
import TestSupport
import Tidelog
import Transport

/// A device with an app: a store on disk that is used through the public API, and the service that it belongs to.
final class AppDevice {
    /// Changes of the user that are made while a request waits to be sent.
    private final class Interruption: Sendable {
        private let change = Mutex<(@Sendable () async -> Void)?>(nil)

        func set(_ change: @escaping @Sendable () async -> Void) { self.change.withLock { $0 = change } }

        func run() async {
            let change = change.withLock { change in
                defer { change = nil }
                return change
            }
            await change?()
        }
    }

    let server: SandboxServer
    let provider: OfflineODataProvider
    let service: DataService
    /// A client of the service itself, with the values as the service has them.
    let online: DataService
    private let directory = TemporaryDirectory()
    private let clock = Clock()
    private let interruption = Interruption()

    /// Creates a device on which waiting takes no real time, and downloads the queries.
    init(
        _ server: SandboxServer, _ target: MatrixService, _ queries: [String],
        adjusting: (inout OfflineODataParameters) -> Void
    ) async throws {
        self.server = server
        let root = "\(server.origin)/\(target.version)/"
        let transport = defaultTransport()
        let hooked = HookedTransport(transport) { [interruption] request, _ in
            if request.method != .get { await interruption.run() }
            return nil
        }
        var parameters = OfflineODataParameters(
            storePath: directory.path, transport: hooked, durability: .none, serviceOptions: target.options)
        parameters.environment.now = { [clock] in clock.now }
        parameters.environment.sleep = { [clock] duration throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
            clock.advance(duration)
        }
        adjusting(&parameters)
        provider = OfflineODataProvider(serviceRoot: root, parameters: parameters)
        for query in queries {
            let name = String(query.prefix { $0 != "?" })
            try await provider.add(definingQuery: OfflineODataDefiningQuery(name: name, query: "/\(query)"))
        }
        try await provider.open()
        try await provider.download()
        service = DataService(provider: provider)
        online = DataService(
            provider: OnlineODataProvider(
                serviceRoot: root, connection: ServiceConnection(transport: transport)))
        try await online.loadMetadata()
    }

    // MARK: The app

    /// Runs the change when the next modification is about to be sent.
    func interrupt(_ change: @escaping @Sendable () async -> Void) { interruption.set(change) }

    func property(_ path: String) throws -> Property {
        let names = path.split(separator: "/").map(String.init)
        return try service.entitySet(withName: names[0]).entityType.property(withName: names[1])
    }

    /// Returns an entity of the store by the path of its URL, such as `Orders(1)`.
    func one(_ path: String) async throws -> EntityValue {
        try await service.executeQuery(DataQuery().withURL(path)).requiredEntity()
    }

    /// Returns the entities of a set in the store with a value.
    func all(_ set: String, _ property: String, _ value: String) async throws -> [EntityValue] {
        let entities = try await service.executeQuery(DataQuery().from(try service.entitySet(withName: set)))
        return entities.entityList().filter { $0[property] == .string(value) }
    }

    /// Creates an entity in a set.
    @discardableResult func create(_ set: String, _ values: [String: Value]) async throws -> EntityValue {
        let set = try service.entitySet(withName: set)
        let entity = EntityValue(set.entityType)
        entity.entitySet = set
        for (name, value) in values { entity[name] = value }
        try await service.createEntity(entity)
        return entity
    }

    /// Uploads once. Returns the error if the upload failed.
    func upload() async -> TidelogError? {
        do throws(TidelogError) {
            try await provider.upload()
            return nil
        } catch {
            return error
        }
    }

    /// Uploads until no operation remains, every ten minutes and at most the given number of times. Returns the errors
    /// of failed uploads.
    func drain(uploads: Int) async throws -> [TidelogError] {
        var errors: [TidelogError] = []
        for _ in 0..<uploads {
            if try await open().isEmpty { break }
            clock.advance(.seconds(600))
            if let error = await upload() { errors.append(error) }
        }
        return errors
    }

    /// Returns the operations that are to be sent and have not ended.
    func open() async throws -> [OperationStatus] {
        try await provider.operationStatus().filter { $0.reason != "for this store only" }
    }

    /// Downloads, uploads again, and returns the operations that still have not ended.
    func openAfterDownload() async throws -> [OperationStatus] {
        try await provider.download()
        _ = try await drain(uploads: 2)
        return try await open()
    }

    // MARK: The service

    /// Returns the number of entities with a value at the service.
    func count(_ set: String, _ property: String, _ value: String) async throws -> Int {
        let text = value.split(separator: " ").joined(separator: "%20")
        let feed = try JSONValue.parse(
            Array(try server.get("/v4/\(set)?$filter=\(property)%20eq%20'\(text)'").utf8))
        return feed["value"]?.array?.count ?? 0
    }

    /// Returns the keys of the targets of a navigation property for each entity of a set at the service.
    func links(_ set: String, _ navigation: String) async throws -> [Int: [Int]] {
        let feed = try JSONValue.parse(Array(try server.get("/v4/\(set)?$expand=\(navigation)").utf8))
        func key(_ entity: JSONValue, _ type: String) -> Int? {
            entity["\(type.dropLast())ID"]?.integer.map(Int.init)
        }
        var links: [Int: [Int]] = [:]
        for entity in feed["value"]?.array ?? [] {
            guard let source = key(entity, set) else { continue }
            links[source] = (entity[navigation]?.array ?? []).compactMap { key($0, navigation) }.sorted()
        }
        return links
    }
}
