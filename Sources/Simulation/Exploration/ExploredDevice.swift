import DiskSimulation
import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncEngine

/// A device of an explored system: a disk, and the engine of the current process.
final class ExploredDevice {
    let number: Int
    private let root: String
    private let service: ServiceOptions
    private let clock: VirtualClock
    private(set) var disk: SimulatedDisk
    private(set) var store: LocalStore
    private(set) var engine: SyncEngine
    /// The number of starts.
    private(set) var process = 0
    /// The operations that the app has yet to perform.
    var work: ArraySlice<ExploredOperation>
    /// The operations that the store has acknowledged, by their places in the log.
    private(set) var performed: [SequenceNumber: ExploredOperation] = [:]

    init(
        _ number: Int, _ disk: SimulatedDisk, _ system: ExploredSystem, root: String, service: ServiceOptions,
        work: [ExploredOperation], isolation: isolated (any Actor)? = #isolation
    ) async throws(TidelogError) {
        self.number = number
        self.root = root
        self.service = service
        self.work = work[...]
        clock = VirtualClock(seed: UInt64(number))
        self.disk = disk
        (store, engine) = try await Self.open(disk, number, 0, system, root, service, clock)
    }

    private static func open(
        _ disk: SimulatedDisk, _ number: Int, _ process: Int, _ system: ExploredSystem, _ root: String,
        _ service: ServiceOptions, _ clock: VirtualClock
    ) async throws(TidelogError) -> (LocalStore, SyncEngine) {
        let identifier = StoreIdentifier(bytes: (0..<16).map { UInt8(number + $0) })
        var options = LocalStoreOptions(
            environment: clock.environment,
            log: OperationLog.Options(sealing: .asWritten, segmentSize: 65_536, storeIdentifier: identifier),
            snapshots: .manual, service: service)
        options.readsAhead = false
        options.disk = .simulated(disk)
        let store = try await LocalStore(Device.files, options: options)
        let connection = DeviceConnection(system: system, device: number, process: process)
        return (store, SyncEngine(store: store, session: ServiceSession(root: root, transport: connection)))
    }

    func install(isolation: isolated (any Actor)? = #isolation) async throws(TidelogError) {
        try await engine.prepare()
        for (name, query) in FieldService.queries {
            try await store.definingQueries.add(DefiningQuery(name: name, query: query))
        }
        _ = try await engine.download()
    }

    func restart(
        _ system: ExploredSystem, isolation: isolated (any Actor)? = #isolation
    ) async throws(TidelogError) {
        await store.close()
        disk = disk.copy()
        process += 1
        (store, engine) = try await Self.open(disk, number, process, system, root, service, clock)
    }

    func perform(isolation: isolated (any Actor)? = #isolation) async throws(TidelogError) {
        guard let operation = work.popFirst() else { return }
        let results = try await store.perform(
            operation.intents.map { ($0, IntentOptions()) }, asChangeSet: operation.intents.count > 1)
        for result in results { if let sequence = result.sequence { performed[sequence] = operation } }
    }

    func pass(seconds: Int64) { clock.advance(milliseconds: seconds * 1_000) }
}

/// An operation of an explored system, and the text that shows its effect on the service.
package struct ExploredOperation: Sendable {
    /// Texts that occur on the service once for each time that the operation takes effect.
    let texts: [String]
    /// Whether the operation is an update. With the policy `clientWins`, an update in doubt is sent again if another
    /// device has overwritten its value.
    var isUpdate = false
    let intents: [Intent]

    /// Creates an entity with a key that the service generates.
    static func create(_ mark: String) -> ExploredOperation {
        ExploredOperation(
            texts: [mark],
            intents: [
                .create(
                    EntityDraft(number: 0, set: "Customers", type: "Field.Customer", values: ["Mark": .string(mark)]),
                    in: nil)
            ])
    }

    /// Creates an entity and one that is linked to it, in one change set.
    static func createLinked(_ mark: String) -> ExploredOperation {
        ExploredOperation(
            texts: [mark + "c", mark + "o"],
            intents: [
                .create(
                    EntityDraft(
                        number: 0, set: "Customers", type: "Field.Customer", values: ["Mark": .string(mark + "c")]),
                    in: nil),
                .create(
                    EntityDraft(
                        number: 1, set: "Orders", type: "Field.Order", values: ["Mark": .string(mark + "o")],
                        bindings: [BindingDraft(navigation: "Customer", targets: [.draft(0)])]),
                    in: nil),
            ])
    }

    /// Changes the note of a customer that all devices have.
    static func update(_ note: String) -> ExploredOperation {
        ExploredOperation(
            texts: [note], isUpdate: true,
            intents: [.update(.link("Customers(1)"), changes: ["Note": .string(note)], bindings: [], inline: [])])
    }
}
