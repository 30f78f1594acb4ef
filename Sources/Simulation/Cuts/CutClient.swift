import DiskSimulation
import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncCore
import SyncEngine

/// A client whose connections are cut.
final class CutClient {
    private let world: CutService
    private let number: Int
    private let root: String
    private let options: ServiceOptions
    private var disk = SimulatedDisk()
    private(set) var store: LocalStore
    private var engine: SyncEngine
    /// The marks that each operation has created.
    private(set) var created: [SequenceNumber: [String]] = [:]

    init(_ world: CutService, number: Int, root: String, options: ServiceOptions) async throws {
        self.world = world
        self.number = number
        self.root = root
        self.options = options
        (store, engine) = try await Self.open(disk, world, number, root, options)
        try await engine.prepare()
        for (name, query) in FieldService.queries {
            try await store.definingQueries.add(DefiningQuery(name: name, query: query))
        }
        _ = try await engine.download()
    }

    private static func open(
        _ disk: SimulatedDisk, _ world: CutService, _ number: Int, _ root: String, _ service: ServiceOptions
    ) async throws -> (LocalStore, SyncEngine) {
        let identifier = StoreIdentifier(bytes: (0..<16).map { UInt8(number + $0) })
        var options = LocalStoreOptions(
            environment: world.clock.environment,
            log: OperationLog.Options(sealing: .asWritten, segmentSize: 65_536, storeIdentifier: identifier),
            snapshots: .manual, service: service)
        options.readsAhead = false
        options.disk = .simulated(disk)
        let store = try await LocalStore(Device.files, options: options)
        let session = ServiceSession(root: root, transport: CutService.Network(world: world, client: number))
        return (store, SyncEngine(store: store, session: session))
    }

    func restart() async throws {
        await store.close()
        disk = disk.copy()
        (store, engine) = try await Self.open(disk, world, number, root, options)
    }

    func close() async { await store.close() }

    // MARK: The app

    func perform(_ calls: [Intent], asChangeSet: Bool) async throws {
        let results = try await store.perform(calls.map { ($0, IntentOptions()) }, asChangeSet: asChangeSet)
        for (call, result) in zip(calls, results) {
            guard case .create(let draft, _) = call, let sequence = result.sequence else { continue }
            created[sequence] = ([draft] + draft.inline.flatMap(\.entities)).compactMap {
                $0.values["Mark"]?.stringValue
            }
        }
    }

    /// Uploads and returns whether the connection was not cut.
    func upload() async throws -> Bool {
        do throws(TidelogError) {
            _ = try await engine.upload(UploadOptions(retry: .impatient))
            return true
        } catch {
            guard error.code == .unreachable || error.code == .inDoubt else { throw error }
            return false
        }
    }

    func download() async throws { _ = try await engine.download() }

    var doubts: [PendingOperation] {
        get async throws { try await store.queue.pendingOperations(.inDoubt) }
    }

    /// Returns the number of creations of each mark by operations that are no longer pending.
    func confirmed() async throws -> [String: Int] {
        let pending = Set(try await store.queue.pendingOperations().map(\.sequence))
        var counts: [String: Int] = [:]
        for (sequence, marks) in created where !pending.contains(sequence) {
            for mark in marks { counts[mark, default: 0] += 1 }
        }
        return counts
    }
}
