import EDM
import ODataSandbox
import OperationLog
import Operations
import TestSupport

@testable import LogInspection
@testable import OfflineStore
@testable import SyncEngine

/// A store on disk after a session: a download, edits and uploads.
final class ReplayedShop: Sendable {
    let directory = TemporaryDirectory()
    let transport: SandboxTransport
    let store: LocalStore
    let engine: SyncEngine

    var inspected: InspectedStore { InspectedStore(directory: directory.path) }

    init(_ dialect: String = "v4", options: LocalStoreOptions = .init()) async throws {
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        transport = SandboxTransport(sandbox)
        store = try await LocalStore(StoreFiles(directory: directory.path), options: options)
        engine = SyncEngine(
            store: store, session: ServiceSession(root: "http://shop.test/\(dialect)/", transport: transport))
        try await engine.prepare()
        for set in ["Customers", "Orders"] { try await store.definingQueries.add(DefiningQuery(name: set, query: set)) }
        _ = try await engine.download()
    }

    @discardableResult
    func create(_ set: String, _ values: PropertyValues) async throws -> String {
        let type = try await store.model.findEntitySet(set)?.entityType.name ?? ""
        let draft = EntityDraft(number: 0, set: set, type: type, values: values, bindings: [], inline: [])
        return try await perform(.create(draft, in: nil))[0].entities[0]?.readLink ?? ""
    }

    func update(_ link: String, _ values: PropertyValues) async throws {
        try await perform(.update(.link(link), changes: values, bindings: [], inline: []))
    }

    @discardableResult
    private func perform(_ intent: Intent) async throws -> [IntentResult] {
        try await store.perform([(intent, IntentOptions())], asChangeSet: false)
    }

    /// Performs two uploads with three batches: an update waits for the key of its entity. The service rejects one
    /// operation.
    func session() async throws {
        let customer = try await create("Customers", ["Name": .string("Ada")])
        try await update(customer, ["Rating": .decimal(DecimalValue(4))])
        _ = try await engine.upload()
        try await update(customer, ["Name": .string("Eve")])
        transport.direct("DELETE", "/v4/Orders(1)")
        try await update("Orders(1)", ["Note": .string("too late")])
        _ = try await engine.upload()
        try await create("Orders", ["Note": .string("pending")])
    }
}
