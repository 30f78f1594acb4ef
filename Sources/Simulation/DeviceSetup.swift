import DiskSimulation
import EDM
import OfflineStore
import OperationLog
import Operations
import SyncEngine

/// The installation of a device, and the opening of its store.
struct DeviceSetup {
    let number: Int

    func install(in run: isolated Simulation) async {
        let disk = SimulatedDisk()
        let views = run.viewsHabits.areFiles ? DeviceViews(seed: run.seed &* 31 &+ UInt64(number)) : nil
        do {
            // An app does not begin its work before the installation is on the disk.
            let (store, engine) = try await open(disk, views, .everyCommit, in: run)
            let app = DeviceApp(number: number, seed: run.seed &* 37 &+ UInt64(number), plants: run.options.plants)
            let device = Device(
                number: number, disk: disk, views: views, app: app, keys: run.habits.keys, store: store, engine: engine)
            run.devices.append(device)
            try await device.engine.prepare()
            if run.habits.hasClientOnly, let service = try await store.service {
                let joined = try ClientOnlyMetadata.joined(
                    service: service.metadata, additions: Array(FieldService.clientOnlyMetadata.utf8))
                _ = try await store.metadata.refresh(joined, policy: CompatibilityPolicy())
            }
            let keyless = run.habits.readsKeyless ? [(FieldService.keyless, FieldService.keyless)] : []
            for (name, query) in FieldService.queries + keyless {
                try await store.definingQueries.add(DefiningQuery(name: name, query: query))
            }
            _ = try await device.engine.download()
            try await DeviceUser(device: device).refresh()
            guard run.habits.durability != .everyCommit else { return }
            await device.store.close()
            (device.store, device.engine) = try await open(disk, views, in: run)
        } catch {
            run.violated("d\(number) cannot be installed: \(error)")
        }
    }

    func open(
        _ disk: SimulatedDisk, _ views: DeviceViews? = nil, _ durability: OperationLog.Options.Durability? = nil,
        in run: isolated Simulation
    ) async throws(TidelogError) -> (LocalStore, SyncEngine) {
        // Sixteen bytes derived from the seed and the device, so that they are the same in each run.
        let identifier = StoreIdentifier(
            bytes: (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? run.seed >> UInt64($0 * 8) : UInt64(number + $0)) }
        )
        var environment = run.clock.environment
        environment.executor = run.executor
        var options = LocalStoreOptions(
            environment: environment,
            log: OperationLog.Options(
                durability: durability ?? run.durability, sealing: .asWritten,
                segmentSize: run.habits.segmentSize,
                storeIdentifier: identifier, keys: run.habits.keys),
            snapshots: run.snapshots, service: run.serviceOptions)
        options.undoesLocalCreation = run.habits.undoesLocalCreation
        options.longQueue = run.habits.longQueue
        options.undoableClientChanges = run.habits.undoableClientChanges
        if !run.options.plants.contains(.keptCreations) { options.removal.sets = run.habits.removedSets }
        options.flushLimit = run.viewsHabits.flushLimit
        options.readsAhead = false
        options.disk = .simulated(disk, views: views?.place)
        let store = try await LocalStore(Device.files, options: options)
        let network = SimulatedNetwork(simulation: run, device: number)
        let session = ServiceSession(
            root: run.root, transport: network, authentication: run.login == nil ? nil : run.hook(number),
            executor: run.executor)
        return (store, SyncEngine(store: store, session: session))
    }
}
