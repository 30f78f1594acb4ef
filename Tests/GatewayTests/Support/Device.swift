import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncCore
import SyncEngine
import Synchronization
import TestSupport
import Transport

/// A store of a part of the Shop with a real engine, which reaches the service through a gateway.
struct Device {
    private final class Clock: Sendable {
        private let passed = Mutex<Int64>(0)

        var now: Timestamp { systemClock() + passed.withLock { $0 } }

        func advance(_ milliseconds: Int64) { passed.withLock { $0 += milliseconds } }
    }

    let version: String
    private let directory = TemporaryDirectory()
    let store: LocalStore
    let engine: SyncEngine
    private let clock = Clock()

    /// - Parameter root: The root below which the services `v2` and `v4` are. Waiting takes no real time.
    init(root: String, _ version: String, _ service: ServiceOptions? = nil) async throws {
        self.version = version
        var environment = SyncEnvironment.system
        environment.now = { [clock] in clock.now }
        environment.sleep = { [clock] duration throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
            clock.advance(duration.milliseconds)
        }
        let options = LocalStoreOptions(
            environment: environment, log: OperationLog.Options(durability: .none), service: service)
        store = try await LocalStore(StoreFiles(directory: directory.path), options: options)
        engine = SyncEngine(
            store: store, session: ServiceSession(root: "\(root)\(version)/", transport: defaultTransport()))
        try await engine.prepare()
        for set in ["Orders", "Suppliers", "Visits"] {
            try await store.definingQueries.add(DefiningQuery(name: set, query: set))
        }
        _ = try await engine.download()
    }

    /// Makes the changes of one trial: a create whose key the device assigns, one whose key the service assigns, and an
    /// update.
    func change(_ mark: Int) async throws {
        let name = Value.string("mark \(mark)")
        try await create("Visits", ["VisitID": .guid(GuidValue(high: 7, low: UInt64(mark))), "Subject": name])
        try await create("Suppliers", ["Name": name])
        let intent = Intent.update(.link("Orders(1)"), changes: ["Note": name], bindings: [], inline: [])
        _ = try await store.perform([(intent, IntentOptions())], asChangeSet: false)
    }

    func create(_ set: String, _ values: PropertyValues) async throws {
        let type = try await store.model.findEntitySet(set)?.entityType.name ?? ""
        let draft = EntityDraft(number: 0, set: set, type: type, values: values)
        _ = try await store.perform([(.create(draft, in: nil), IntentOptions())], asChangeSet: false)
    }

    /// Uploads until nothing is left. Between two uploads ten minutes pass for the device.
    func drain(uploads: Int = 6) async throws -> [TidelogError] {
        var errors: [TidelogError] = []
        for _ in 0..<uploads {
            do throws(TidelogError) {
                if try await engine.upload().remaining == 0 { return errors }
            } catch {
                errors.append(error)
            }
            clock.advance(600_000)
        }
        return errors
    }

    /// The operations that have not ended.
    func open() async throws -> [String] {
        try await store.queue.pendingOperations().map { "\($0.operation.action) \($0.status)" }
    }

    func local(_ set: String, _ property: String) async throws -> [String] {
        try await store.query(set).entities.compactMap { $0.values[property]?.stringValue }.sorted()
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

extension SandboxServer {
    /// The values of a property at the service, of all pages.
    func values(_ set: String, _ property: String) async throws -> [String] {
        var found: [String] = []
        var path: String? = "/v4/\(set)"
        while let page = path {
            let feed = try JSONValue.parse(Array(try get(page).utf8))
            found += (feed["value"]?.array ?? []).compactMap { $0[property]?.string }
            path = feed["@odata.nextLink"]?.string.map { String($0.dropFirst(origin.count)) }
        }
        return found.sorted()
    }

    /// How often the order was changed: the sandbox counts in its ETags.
    func orderVersion() async throws -> Int {
        let order = try JSONValue.parse(Array(try get("/v4/Orders(1)").utf8))
        return Int((order["@odata.etag"]?.string ?? "").filter(\.isNumber)) ?? 0
    }
}
