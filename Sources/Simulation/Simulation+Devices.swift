import DiskSimulation
import EDM
import ODataWire
import OperationLog
import Operations
import SyncEngine

/// Installation, crashes and restarts of devices.
extension Simulation {
    func install(_ number: Int) async {
        let disk = SimulatedDisk()
        let views = viewsHabits.areFiles ? DeviceViews(seed: seed &* 31 &+ UInt64(number)) : nil
        do {
            // An app does not begin its work before the installation is on the disk.
            let (store, engine) = try await open(disk, number, views, .everyCommit)
            let app = DeviceApp(number: number, seed: seed &* 37 &+ UInt64(number), plants: options.plants)
            let device = Device(
                number: number, disk: disk, views: views, app: app, keys: habits.keys, store: store, engine: engine)
            devices.append(device)
            try await device.engine.prepare()
            if habits.hasClientOnly, let service = try await store.service {
                let joined = try ClientOnlyMetadata.joined(
                    service: service.metadata, additions: Array(FieldService.clientOnlyMetadata.utf8))
                _ = try await store.refresh(joined, policy: CompatibilityPolicy())
            }
            for (name, query) in FieldService.queries {
                try await store.add(DefiningQuery(name: name, query: query))
            }
            _ = try await device.engine.download()
            try await refresh(device)
            guard !habits.syncsEachCommit else { return }
            await device.store.close()
            (device.store, device.engine) = try await open(disk, number, views)
        } catch {
            violated("d\(number) cannot be installed: \(error)")
        }
    }

    func open(
        _ disk: SimulatedDisk, _ number: Int, _ views: DeviceViews? = nil,
        _ durability: OperationLog.Options.Durability? = nil
    ) async throws(TidelogError) -> (LocalStore, SyncEngine) {
        // Sixteen bytes derived from the seed and the device, so that they are the same in each run.
        let identifier = StoreIdentifier(
            bytes: (0..<16).map { UInt8(truncatingIfNeeded: $0 < 8 ? seed >> UInt64($0 * 8) : UInt64(number + $0)) })
        var options = LocalStore.Options(
            environment: clock.environment,
            log: OperationLog.Options(
                durability: durability ?? (habits.syncsEachCommit ? .everyCommit : .none), sealing: .asWritten,
                segmentSize: 16_384,
                storeIdentifier: identifier, keys: habits.keys),
            snapshots: snapshots, service: serviceOptions)
        options.undoesLocalCreation = habits.undoesLocalCreation
        options.longQueue = habits.longQueue
        options.undoableClientChanges = habits.undoableClientChanges
        if !self.options.plants.contains(.keptCreations) { options.removal.sets = habits.removedSets }
        options.flushLimit = viewsHabits.flushLimit
        options.readsAhead = false
        options.disk = .simulated(disk, views: views?.place)
        let store = try await LocalStore(Device.files, options: options)
        let network = SimulatedNetwork(simulation: self, device: number)
        let session = ServiceSession(root: root, transport: network, authentication: login == nil ? nil : hook(number))
        return (store, SyncEngine(store: store, session: session))
    }

    // MARK: Crashes

    func crash(_ device: Device) async {
        let trouble: FaultKind = random.chance(50) ? .processCrash : .powerLoss
        guard happens(trouble) else { return }
        addTrace("d\(device.number) \(trouble)")
        device.crash()
    }

    func reopen(_ device: Device) async {
        addTrace("d\(device.number) closes and opens")
        await device.store.close()
        guard !device.hasCrashed else { return }
        device.views?.reopen()
        let image = device.disk.copy()
        await checkBitRot(of: device, image)
        await start(device, on: image)
    }

    func restart(_ device: Device) async {
        counts.restarts += 1
        // The process is gone: nothing of what closing the store does comes to a disk.
        device.views?.crash()
        await device.store.close()
        // After the end of the process, the disk contains all writes; after a power loss, it contains the synced writes
        // and any part of the others.
        let keepsWrites = random.chance(50) || !options.troubles.contains(.powerLoss)
        let image = keepsWrites ? device.disk.copy() : device.disk.random(&random)
        if !keepsWrites { device.losePower(syncsEachCommit: habits.syncsEachCommit) }
        device.views?.restart(keepsWrites: keepsWrites)
        if keepsWrites { await checkBitRot(of: device, image) }
        if options.plants.contains(.forgetfulDisk), let path = image.paths.last(where: { $0.hasSuffix(".segment") }) {
            image[path] = Array(image[path].dropLast(100))
        }
        await start(device, on: image)
    }

    private func start(_ device: Device, on image: SimulatedDisk) async {
        var image = image
        while true {
            if random.chance(20), happens(.crashAtOpening) { image.fail(atCall: random.below(12), .crash) }
            do throws(TidelogError) {
                (device.store, device.engine) = try await open(image, device.number, device.views)
                device.disk = image
                let recovery = withoutViews(device.store.recovery, device)
                addTrace("d\(device.number) starts: \(recovery)")
                return try await checkAfterStart(device)
            } catch {
                guard image.hasCrashed else {
                    device.disk = image
                    return violated("d\(device.number) does not open: \(error)")
                }
                image = image.random(&random)
                device.losePower(syncsEachCommit: habits.syncsEachCommit)
                device.views?.crash()
                device.views?.restart(keepsWrites: false)
            }
        }
    }

    /// What became of the views is no part of the run.
    private func withoutViews(_ recovery: [String], _ device: Device) -> [String] {
        let others = recovery.filter { !$0.hasPrefix("The views were rebuilt") }
        if device.views != nil {
            counts.viewsOpened += 1
            if others.count < recovery.count { counts.viewsRemade += 1 }
        }
        return others
    }

    private func checkAfterStart(_ device: Device) async throws(TidelogError) {
        do {
            let tags = try device.customTags(on: device.disk)
            let lost = device.acknowledged.subtracting(tags).sorted()
            if !lost.isEmpty { violated("d\(device.number) lost acknowledged operations: \(lost)") }
            counts.add(device.forgotten.subtracting(tags).count, .lostUnsynced)
            device.forgotten = []
            // Operations whose outcome the app did not learn count as acknowledged now that they are in the log.
            device.acknowledged.formUnion(tags)
        } catch {
            if !device.hasCrashed { violated("d\(device.number): the log cannot be read: \(error)") }
        }
    }

    // MARK: Snapshots

    func compact(_ device: Device) async {
        guard !device.hasCrashed else { return }
        do {
            if random.chance(50) {
                try await device.store.writeSnapshot()
                addTrace("d\(device.number) writes a snapshot")
            } else {
                // Must be read before the compaction, because a crash during it may leave it completed.
                device.removed = try device.allRecords()
                _ = try await device.store.compact(keeping: .bytes(0))
                addTrace("d\(device.number) compacts")
            }
        } catch {
            if !device.hasCrashed { violated("d\(device.number) cannot compact: \(error)") }
        }
    }
}
