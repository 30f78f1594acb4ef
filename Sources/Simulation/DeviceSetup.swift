import DiskSimulation
import EDM
import OfflineStore
import OperationLog
import Operations
import SeededRandom
import SyncEngine

/// The installation of a device, and the opening of its store.
struct DeviceSetup {
    let number: Int

    func install(in run: isolated Simulation) async {
        let disk = SimulatedDisk()
        let views = run.viewsHabits.areFiles ? DeviceViews(seed: run.seed &* 31 &+ UInt64(number)) : nil
        do {
            let (store, engine) = try await open(disk, views, in: run)
            let app = DeviceApp(number: number, seed: run.seed &* 37 &+ UInt64(number), plants: run.options.plants)
            let device = Device(
                number: number, disk: disk, views: views, app: app, keys: run.habits.keys, store: store, engine: engine,
                diskRandom: SeededRandom(seed: run.seed &* 61 &+ UInt64(number)))
            run.devices.append(device)
            try await installMetadata(of: device, in: run)
            let keyless = run.habits.readsKeyless ? [(FieldService.keyless, FieldService.keyless)] : []
            for (name, query) in FieldService.queries + keyless {
                try await store.definingQueries.add(DefiningQuery(name: name, query: query))
            }
            _ = try await device.engine.download()
            try await DeviceUser(device: device).refresh()
            // An app does not begin its work before the installation is on the disk.
            try await store.makeDurable()
        } catch {
            run.violated("d\(number) cannot be installed: \(error)")
        }
    }

    /// Installs the metadata, most often with the client-only part, as a new app does. Some devices get that part later,
    /// as with a new version of the app.
    private func installMetadata(of device: Device, in run: isolated Simulation) async throws {
        let models = run.options.metadata
        guard run.habits.hasClientOnly else { return try await device.engine.prepare() }
        if (run.seed &+ UInt64(number)) % 4 != 0 {
            let service = try await MetadataReading.read(device.engine.session, models: models.source).bytes
            return try await device.engine.install(try models.withClientOnly(service))
        }
        try await device.engine.prepare()
        guard let service = try await device.store.service else { return }
        _ = try await device.store.metadata.refresh(
            try models.withClientOnly(service.metadata), policy: CompatibilityPolicy())
    }

    func open(
        _ disk: SimulatedDisk, _ views: DeviceViews? = nil, in run: isolated Simulation
    ) async throws(TidelogError) -> (LocalStore, SyncEngine) {
        // Sixteen bytes derived from the seed and the device, so that they are the same in each run.
        let identifier = StoreIdentifier(
            bytes: (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? run.seed >> UInt64($0 * 8) : UInt64(number + $0)) }
        )
        var environment = run.clock.environment
        environment.executor = run.executor
        environment.models = run.options.metadata.source
        var options = LocalStoreOptions(
            environment: environment,
            log: OperationLog.Options(
                durability: run.durability, sealing: .asWritten,
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
