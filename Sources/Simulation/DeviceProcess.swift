import DiskSimulation
import OfflineStore
import Operations

/// The process of the app on a device: its crashes and restarts, and the maintenance of its log.
struct DeviceProcess {
    let device: Device

    func crash(in run: isolated Simulation) async {
        let trouble: FaultKind = run.random.chance(50) ? .processCrash : .powerLoss
        guard run.happens(trouble) else { return }
        run.addTrace("d\(device.number) \(trouble)")
        device.crash()
    }

    func reopen(in run: isolated Simulation) async {
        run.addTrace("d\(device.number) closes and opens")
        await device.store.close()
        guard !device.hasCrashed else { return }
        device.views?.reopen()
        damageViews(in: run)
        let image = device.disk.copy()
        await BitRotCheck(device: device).run(on: image, in: run)
        await MisplacedWriteCheck(device: device).run(on: image, in: run)
        await start(on: image, in: run)
    }

    func restart(in run: isolated Simulation) async {
        run.counts.restarts += 1
        if device.hasPlannedStop { run.counts.add(.diskStop) }
        let isRefused = device.hasDiskError
        if isRefused { run.counts.add(.diskError) }
        // The process has ended, so closing the store must not write to a disk.
        device.crash()
        await device.store.close()
        // After the end of the process, the disk contains all writes; after a power loss, it contains the synced writes
        // and any part of the others.
        let keepsWrites = run.random.chance(50) || !run.options.troubles.contains(.powerLoss)
        let image = keepsWrites ? device.disk.copy() : device.disk.random(&run.random)
        // A log that could not be synced is cut after its last synced commit.
        if !keepsWrites || isRefused { device.losePower(survivesPowerLoss: run.habits.survivesPowerLoss) }
        device.views?.restart(keepsWrites: keepsWrites)
        damageViews(in: run)
        if keepsWrites, !isRefused { await BitRotCheck(device: device).run(on: image, in: run) }
        if run.options.plants.contains(.forgetfulDisk), let path = image.paths.last(where: { $0.hasSuffix(".segment") })
        {
            image[path] = Array(image[path].dropLast(100))
        }
        await start(on: image, in: run)
    }

    /// Possibly damages a file of the views. Damage in encrypted views is detected when they are opened.
    private func damageViews(in run: isolated Simulation) {
        guard !device.keys.isEmpty, run.permits(.viewsDamage), device.views?.damage() == true else { return }
        run.counts.add(.viewsDamage)
    }

    /// Lets a read of the log fail during the next opening, with a probability of 10 %.
    ///
    /// Not with views in files, because the number of reads then depends on their state, which must not affect a run.
    private func planReadError(on image: SimulatedDisk, in run: isolated Simulation) {
        guard device.views == nil, run.permits(.readError), device.diskRandom.chance(10) else { return }
        image.fail(atRead: image.reads + device.diskRandom.below(60), .refuse)
    }

    private func start(on image: SimulatedDisk, in run: isolated Simulation) async {
        var image = image
        while true {
            planReadError(on: image, in: run)
            // In a long run, most openings after a crash are interrupted, some of them several times.
            let isStopping = run.random.chance(run.isLong ? 60 : 20) && run.permits(.crashAtOpening)
            if isStopping { image.fail(atCall: run.random.below(12), .crash) }
            do throws(TidelogError) {
                (device.store, device.engine) = try await DeviceSetup(number: device.number).open(
                    image, device.views, in: run)
                if !image.refusedPaths.isEmpty { run.counts.add(.readError) }
                image.fail(atRead: .max, .refuse)
                device.use(image, isStopping: isStopping)
                let recovery = withoutViews(device.store.recovery, in: run)
                run.addTrace("d\(device.number) starts: \(recovery)")
                return try await checkAfterStart(in: run)
            } catch {
                if !image.refusedPaths.isEmpty, !image.hasCrashed {
                    run.counts.add(.readError)
                    image = image.copy()
                    continue
                }
                guard image.hasCrashed else {
                    device.use(image, isStopping: false)
                    return run.violated("d\(device.number) does not open: \(error)")
                }
                if isStopping { run.counts.add(.crashAtOpening) }
                image = image.random(&run.random)
                device.losePower(survivesPowerLoss: run.habits.survivesPowerLoss)
                device.views?.crash()
                device.views?.restart(keepsWrites: false)
            }
        }
    }

    /// Returns the recovery messages without those about rebuilt views, which depend on the writes of SQLite.
    ///
    /// Counts the openings of views, and those after which they were rebuilt.
    private func withoutViews(_ recovery: [String], in run: isolated Simulation) -> [String] {
        let others = recovery.filter { !$0.hasPrefix("The views were rebuilt") }
        if device.views != nil {
            run.counts.viewsOpened += 1
            if others.count < recovery.count { run.counts.viewsRemade += 1 }
        }
        return others
    }

    private func checkAfterStart(in run: isolated Simulation) async throws(TidelogError) {
        do {
            let tags = try device.customTags(on: device.disk)
            let lost = device.acknowledged.subtracting(tags).sorted()
            if !lost.isEmpty { run.violated("d\(device.number) lost acknowledged operations: \(lost)") }
            run.counts.add(device.forgotten.subtracting(tags).count, .lostUnsynced)
            device.forgotten = []
            // Operations whose outcome the app did not learn count as acknowledged now that they are in the log.
            device.acknowledged.formUnion(tags)
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number): the log cannot be read: \(error)") }
        }
    }

    /// Opens the store in a second process, which must be refused and change nothing.
    func openAgain(in run: isolated Simulation) async {
        guard !device.hasCrashed, run.happens(.secondProcess) else { return }
        run.addTrace("d\(device.number) is opened by a second process")
        let before = files
        do throws(TidelogError) {
            let (store, _) = try await DeviceSetup(number: device.number).open(
                run.options.plants.contains(.sharedLocks) ? device.disk.copy() : device.disk,
                run.options.plants.contains(.sharedLocks) ? nil : device.views, in: run)
            await store.close()
            run.violated("d\(device.number) was opened by two processes")
        } catch {
            if !device.hasCrashed, error.code != .locked {
                run.violated("d\(device.number) does not report that another process has the store: \(error)")
            }
        }
        if files != before { run.violated("d\(device.number) was changed by a refused process") }
    }

    /// The bytes of all files of the log and of the views.
    private var files: [[String: [UInt8]]] {
        [device.disk, device.views?.disk].compactMap(\.self).map { disk in
            Dictionary(uniqueKeysWithValues: disk.paths.map { ($0, disk[$0]) })
        }
    }

    /// Writes a snapshot, or compacts the log.
    func maintain(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        do {
            if run.random.chance(50) {
                try await device.store.writeSnapshot()
                run.addTrace("d\(device.number) writes a snapshot")
            } else {
                // Must be read before the compaction, because a crash during it may leave it completed.
                device.removed = try device.allRecords()
                let compaction = try await device.store.compact(keeping: .bytes(0))
                run.counts.add(compaction.removedSegments, .compactedSegments)
                run.addTrace("d\(device.number) compacts \(compaction.removedSegments) segments")
            }
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number) cannot maintain its log: \(error)") }
        }
    }

    /// Raw bytes in a block of a recompressed segment: few enough that the small segments of a run are rewritten.
    private static let recompressedBlockSize = 4_096

    /// Recompresses the sealed segments of the log, which the product does in the background some time after they are
    /// sealed. The disk may stop at any call of it.
    func recompress(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        do throws(TidelogError) {
            let count = try await device.store.recompressLog(level: 1, blockSize: Self.recompressedBlockSize)
            guard count > 0 else { return }
            run.counts.add(count, .recompressedSegments)
            run.addTrace("d\(device.number) recompresses \(count) segments")
        } catch {
            if !device.hasCrashed { run.violated("d\(device.number) cannot recompress its log: \(error)") }
        }
    }
}
