import Operations
import SyncCore
import SyncEngine

/// Uploads, downloads, and the recovery after the faults.
extension Simulation {
    func upload(_ device: Device) async {
        guard !device.hasCrashed else { return }
        addTrace("d\(device.number) uploads")
        do throws(TidelogError) {
            let report = try await device.engine.upload(try await uploadOptions(device))
            counts.confirmed += report.confirmed.count
            counts.rejected += report.rejected.count
            addTrace(
                "uploaded: \(report.confirmed) rejected \(report.rejected.map { "\($0.operation): \($0.refusal)" })")
            check(report)
            for violation in await RemovalVerification.violations(habits.removedSets, device) { violated(violation) }
        } catch {
            failed("upload", device, error)
        }
    }

    /// Returns the options of an upload. While faults are injected, they follow the habits of the run; afterwards, the
    /// upload sends all operations that can be sent.
    private func uploadOptions(_ device: Device) async throws(TidelogError) -> UploadOptions {
        let refused = try await device.store.pendingOperations(.rejected).map(\.sequence)
        var options = habits.upload(&random, refused: refused)
        if !isStormy { (options.categories, options.refused) = (nil, .all) }
        options.conflicts = conflictHandling()
        addTrace("\(options.coalesces ? "coalescing, " : "")\(options.refused) \(options.categories?.count ?? 0)")
        return options
    }

    /// Returns the conflict handling. While faults are injected, conflicts wait or a policy resolves them; afterwards,
    /// the device that uploads wins.
    private func conflictHandling() -> ConflictHandling {
        if recorder != nil { return HistoryApp.keepingBothSides }
        if isStormy {
            switch random.below(8) {
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
    private func check(_ report: UploadReport) {
        guard deviceCount == 1, severity == 0, counts.restarts == 0, !report.rejected.isEmpty else { return }
        violated("The service rejected operations on entities that no other client changed: \(report.rejected)")
    }

    /// - Returns: Whether a query resumed after the pages of an earlier download, so that the contents of those pages
    ///   may be outdated.
    @discardableResult
    func download(_ device: Device) async -> Bool {
        guard !device.hasCrashed else { return false }
        addTrace("d\(device.number) downloads")
        do throws(TidelogError) {
            let report = try await device.engine.download()
            addTrace("downloaded \(report.entities)")
            try await refresh(device)
            return report.queries.contains { $0.mode == .resumed }
        } catch {
            failed("download", device, error)
            return false
        }
    }

    private func failed(_ what: String, _ device: Device, _ error: TidelogError) {
        addTrace("d\(device.number): the \(what) fails: \(error)")
        if device.hasCrashed { return }
        switch error.code {
        case .unreachable, .unauthorized, .service, .notOData, .inDoubt, .postponed, .cancelled:
            if isStormy || !device.isOnline { return }
        default: break
        }
        violated("d\(device.number): the \(what) fails: \(error)")
    }

    // MARK: Recovery after the faults

    /// Lets every device recover without faults. In a few rounds, each device must send all operations that can be
    /// sent, and its state must equal that of the service.
    func drain() async {
        addTrace("the faults have ended")
        for device in devices {
            device.isOnline = true
            device.calmDisk()
        }
        login?.calm()
        await restartCrashed()
        while !late.isEmpty { deliverLate() }
        let start = clock.now
        var left: [[SequenceNumber: String]] = []
        for round in 1...8 where violations.isEmpty {
            clock.advance(milliseconds: 600_000)
            let before = left
            left = []
            var isUnsettled = false
            for device in devices {
                if round == 1 { await endDrafts(device) }
                await upload(device)
                if round > 1 {
                    await DeletionVerification.check(device, in: self)
                    await discardRefused(device)
                    isUnsettled = await resolveInDoubt(device) || isUnsettled
                }
                if await !reasons(device).isEmpty { await download(device) }
                left.append(await reasons(device))
                // The next upload resolves the conflicts that the download has detected.
                if let open = try? await device.store.conflicts(), !open.isEmpty { isUnsettled = true }
            }
            // Operations that remain a second time for the same reasons will not be sent at all.
            if round > 1, left == before, !isUnsettled { break }
        }
        for device in devices where violations.isEmpty {
            if await download(device) { await download(device) }
        }
        addTrace("drained in \((clock.now - start) / 1_000) seconds")
        for device in devices where violations.isEmpty { await checkDrained(device) }
    }

    private func reasons(_ device: Device) async -> [SequenceNumber: String] {
        do throws(TidelogError) {
            return try await UndrainedQueue(device.store).reasons
        } catch {
            violated("d\(device.number) does not report why it waits: \(error)")
            return [:]
        }
    }

    private func checkDrained(_ device: Device) async {
        do throws(TidelogError) {
            let remainder = try await UndrainedQueue(device.store)
            guard !remainder.operations.isEmpty else { return }
            let left = remainder.reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            addTrace("left: \(left)")
            let stalled = remainder.stalled { !options.isStrict || device.settledEntities.contains($0) }
            if !stalled.isEmpty { violated("d\(device.number) stalls: \(stalled) of \(left)") }
            counts.visibleDoubts += remainder.operations.count
        } catch {
            violated("d\(device.number): \(error)")
        }
    }
}
