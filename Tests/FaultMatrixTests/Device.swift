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

/// A clock that advances by waiting and by request.
final class Clock: Sendable {
    private let passed = Mutex<Int64>(0)

    var now: Timestamp { systemClock() + passed.withLock { $0 } }

    func advance(_ duration: Duration) { passed.withLock { $0 += duration.milliseconds } }
}

/// A store with a part of the Shop, and a real engine with a real transport.
struct Device {
    let server: SandboxServer
    let version: String
    private let directory = TemporaryDirectory()
    let store: LocalStore
    let engine: SyncEngine
    private let clock = Clock()

    /// Creates a device on which waiting takes no real time.
    init(_ server: SandboxServer, _ version: String, _ service: ServiceOptions? = nil) async throws {
        self.server = server
        self.version = version
        var environment = SyncEnvironment.system
        environment.now = { [clock] in clock.now }
        environment.sleep = { [clock] duration throws(CancellationError) in
            if Task.isCancelled { throw CancellationError() }
            clock.advance(duration)
        }
        let options = LocalStoreOptions(
            environment: environment, log: OperationLog.Options(durability: .none), service: service)
        store = try await LocalStore(StoreFiles(directory: directory.path), options: options)
        engine = SyncEngine(
            store: store,
            session: ServiceSession(root: "\(server.origin)/\(version)/", transport: defaultTransport()))
        try await engine.prepare()
        for set in ["Orders", "Suppliers", "Visits", "Persons", "IDCards"] {
            try await store.definingQueries.add(DefiningQuery(name: set, query: set))
        }
        _ = try await engine.download()
    }

    func create(_ set: String, _ values: PropertyValues) async throws {
        let type = try await store.model.findEntitySet(set)?.entityType.name ?? ""
        let draft = EntityDraft(number: 0, set: set, type: type, values: values)
        _ = try await store.perform([(.create(draft, in: nil), IntentOptions())], asChangeSet: false)
    }

    func update(_ link: String, _ values: PropertyValues) async throws {
        let intent = Intent.update(.link(link), changes: values, bindings: [], inline: [])
        _ = try await store.perform([(intent, IntentOptions())], asChangeSet: false)
    }

    /// Makes the changes of a trial, identified by its mark.
    func change(_ mark: Int, createsSupplier: Bool) async throws {
        try await create(
            "Visits",
            ["VisitID": .guid(GuidValue(high: 7, low: UInt64(mark))), "Subject": .string("mark \(mark)")])
        try await update("Orders(1)", ["Note": .string("mark \(mark)")])
        if createsSupplier { try await create("Suppliers", ["Name": .string("mark \(mark)")]) }
    }

    /// Makes the same changes with the new entities in one change set of the app, and creates two more entities that
    /// are linked to each other.
    func changeTogether(_ mark: Int) async throws {
        func draft(_ number: Int, _ set: String, _ values: PropertyValues) async throws -> Intent {
            let type = try await store.model.findEntitySet(set)?.entityType.name ?? ""
            return .create(EntityDraft(number: number, set: set, type: type, values: values), in: nil)
        }
        let name = Value.string("mark \(mark)")
        let visit = try await draft(
            0, "Visits", ["VisitID": .guid(GuidValue(high: 7, low: UInt64(mark))), "Subject": name])
        let supplier = try await draft(1, "Suppliers", ["Name": name])
        // The order of the two alternates.
        let pair = mark.isMultiple(of: 2) ? [visit, supplier] : [supplier, visit]
        _ = try await store.perform(pair.map { ($0, IntentOptions()) }, asChangeSet: true)
        try await update("Orders(1)", ["Note": name])
        let person = try await store.perform(
            [(try await draft(0, "Persons", ["Name": name]), IntentOptions())], asChangeSet: false)
        let card = try await store.perform(
            [(try await draft(0, "IDCards", ["Number": name]), IntentOptions())], asChangeSet: false)
        guard let from = person.first?.entities[0]?.entityID, let to = card.first?.entities[0]?.entityID else { return }
        let link = Intent.createLink(from: .id(from), navigation: "IDCard", to: .id(to))
        _ = try await store.perform([(link, IntentOptions())], asChangeSet: false)
    }

    /// Uploads until no operation remains, every ten minutes and at most the given number of times. Returns the errors
    /// of failed uploads.
    func drain(uploads: Int = 4) async throws -> [TidelogError] {
        var errors: [TidelogError] = []
        for _ in 0..<uploads {
            do throws(TidelogError) {
                if try await engine.upload().remaining == 0 { return errors }
            } catch {
                errors.append(error)
            }
            clock.advance(.seconds(600))
        }
        return errors
    }

    /// Returns the entity set and the status of each pending operation.
    func open() async throws -> [String] {
        try await store.queue.pendingOperations().map { pending in
            switch pending.operation.action {
            case .create(let creation, _): "\(creation.set) \(pending.status)"
            case .createLink: "link \(pending.status)"
            default: "Orders \(pending.status)"
            }
        }
    }

    /// Returns the values of a property in the store.
    func local(_ set: String, _ property: String) async throws -> [String] {
        try await store.query(set).entities.compactMap { $0.values[property]?.stringValue }.sorted()
    }

    /// Returns the values of a property at the service.
    func service(_ set: String, _ property: String) async throws -> [String] {
        let feed = try JSONValue.parse(Array(try server.get("/v4/\(set)").utf8))
        return (feed["value"]?.array ?? []).compactMap { $0[property]?.string }.sorted()
    }
}
