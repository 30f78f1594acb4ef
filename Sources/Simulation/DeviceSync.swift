import OfflineStore
import Operations
import SyncCore
import SyncEngine

/// The uploads and downloads of a device.
struct DeviceSync {
    let device: Device

    func upload(in run: isolated Simulation) async {
        guard !device.hasCrashed else { return }
        run.addTrace("d\(device.number) uploads")
        do throws(TidelogError) {
            let report = try await device.engine.upload(try await uploadOptions(in: run))
            run.counts.confirmed += report.confirmed.count
            run.counts.rejected += report.rejected.count
            run.addTrace(
                "uploaded: \(report.confirmed) rejected \(report.rejected.map { "\($0.operation): \($0.refusal)" })")
            check(report, in: run)
            for violation in await RemovalVerification.violations(run.habits.removedSets, device) {
                run.violated(violation)
            }
        } catch {
            failed("upload", error, in: run)
            guard run.isStormy, !run.isInFlight, run.linkedCreations.downloadsFirst() else { return }
            await download(in: run)
        }
    }

    /// Returns the options of an upload. While faults are injected, they follow the habits of the run; afterwards, the
    /// upload sends all operations that can be sent.
    private func uploadOptions(in run: isolated Simulation) async throws(TidelogError) -> UploadOptions {
        let refused = try await device.store.queue.pendingOperations(.rejected).map(\.sequence)
        var options = run.habits.upload(&run.random, refused: refused)
        if !run.isStormy { (options.categories, options.refused) = (nil, .all) }
        options.conflicts = conflictHandling(in: run)
        run.addTrace("\(options.coalesces ? "coalescing, " : "")\(options.refused) \(options.categories?.count ?? 0)")
        return options
    }

    /// Returns the conflict handling. While faults are injected, conflicts wait or a policy resolves them; afterwards,
    /// the device that uploads wins.
    private func conflictHandling(in run: isolated Simulation) -> ConflictHandling {
        if run.recorder != nil { return HistoryApp.keepingBothSides }
        if run.isStormy {
            switch run.random.below(8) {
            case 0: return ConflictHandling(policy: .serverWins)
            case 1: return ConflictHandling(policy: .clientWins)
            case 2, 3: return ConflictHandling(policy: .merge(overlapping: .serverWins))
            default: return ConflictHandling()
            }
        }
        return ConflictHandling(policy: .merge(overlapping: .clientWins)) { conflict in
            // For an entity that another device deleted, the only valid resolution is to accept the deletion.
            conflict.kind == .deletedByOthers ? .theirs : nil
        }
    }

    /// Checks that the service rejected nothing if the device is its only client and every request receives a response.
    private func check(_ report: UploadReport, in run: isolated Simulation) {
        guard run.deviceCount == 1, run.severity == 0, run.counts.restarts == 0 else { return }
        // A device that has removed the items of an order from its store can delete the order, but not at the service.
        let mayLackItems = !run.habits.removedSets.isEmpty
        let rejected = report.rejected.filter { !mayLackItems || $0.refusal.code != "MandatoryEnd" }
        guard !rejected.isEmpty else { return }
        run.violated("The service rejected operations on entities that no other client changed: \(rejected)")
    }

    /// - Returns: Whether a query resumed after the pages of an earlier download, so that the contents of those pages
    ///   may be outdated.
    @discardableResult
    func download(in run: isolated Simulation) async -> Bool {
        guard !device.hasCrashed else { return false }
        run.addTrace("d\(device.number) downloads")
        let vanished = await MissingFeedEntities(device, in: run)
        let isResumed = await performDownload(in: run)
        await vanished?.verify(device, in: run)
        return isResumed
    }

    private func performDownload(in run: isolated Simulation) async -> Bool {
        do throws(TidelogError) {
            let report = try await device.engine.download()
            run.addTrace("downloaded \(report.entities)")
            try await DeviceUser(device: device).refresh()
            return report.queries.contains { $0.mode == .resumed }
        } catch {
            failed("download", error, in: run)
            return false
        }
    }

    func failed(_ what: String, _ error: TidelogError, in run: isolated Simulation) {
        run.addTrace("d\(device.number): the \(what) fails: \(error)")
        if device.hasCrashed { return }
        switch error.code {
        case .unreachable, .unauthorized, .service, .notOData, .inDoubt, .postponed, .cancelled:
            if run.isStormy || !device.isOnline { return }
        default: break
        }
        run.violated("d\(device.number): the \(what) fails: \(error)")
    }
}
