import OfflineStore
import Operations
import SyncCore

/// The recovery of the devices after the faults have ended.
struct RunRecovery {
    /// Lets every device recover without faults. In a few rounds, each device must send all operations that can be
    /// sent, and its state must equal that of the service.
    func drain(in run: isolated Simulation) async {
        run.addTrace("the faults have ended")
        for device in run.devices {
            device.isOnline = true
            device.calmDisk()
        }
        run.login?.calm()
        // Otherwise a postponement from before a jump back could last longer than the first round.
        run.clock.correct()
        await run.restartCrashed()
        run.gateway?.calm()
        // The gateway reads the service again after a pause of at most an hour.
        if run.gateway != nil { run.clock.advance(milliseconds: 3_600_000) }
        if run.metadataChanges > 0 {
            for device in run.devices { await DeviceSync(device: device).readMetadata(in: run) }
        }
        while !run.late.isEmpty { await RequestDelivery.deliverLate(in: run) }
        let start = run.clock.now
        var left: [[SequenceNumber: String]] = []
        for round in 1...8 where run.violations.isEmpty {
            run.clock.advance(milliseconds: 600_000)
            let before = left
            left = []
            var isUnsettled = false
            for device in run.devices {
                let (user, sync) = (DeviceUser(device: device), DeviceSync(device: device))
                if round == 1 {
                    await user.endDrafts(in: run)
                    if run.linkedCreations.downloadsFirst() { await sync.download(in: run) }
                }
                await sync.upload(in: run)
                if round > 1 {
                    await DeletionVerification.check(device, in: run)
                    await CreationVerification.check(device, in: run)
                    await user.discardRefused(in: run)
                    isUnsettled = await user.settleDoubts(in: run) || isUnsettled
                }
                if await !reasons(device, in: run).isEmpty { await sync.download(in: run) }
                left.append(await reasons(device, in: run))
                // The next upload resolves the conflicts that the download has detected.
                if let open = try? await device.store.conflicts.all(), !open.isEmpty { isUnsettled = true }
            }
            // Operations that remain a second time for the same reasons will not be sent at all.
            if round > 1, left == before, !isUnsettled { break }
        }
        // Feeds are fresh for a while, and then lack the last changes of other devices.
        if run.gateway != nil { run.clock.advance(milliseconds: 3_600_000) }
        for device in run.devices where run.violations.isEmpty {
            let sync = DeviceSync(device: device)
            if await sync.download(in: run) { await sync.download(in: run) }
        }
        run.addTrace("drained in \((run.clock.now - start) / 1_000) seconds")
        for device in run.devices where run.violations.isEmpty { await checkDrained(device, in: run) }
    }

    private func reasons(_ device: Device, in run: isolated Simulation) async -> [SequenceNumber: String] {
        do throws(TidelogError) {
            return try await UndrainedQueue(device.store).reasons
        } catch {
            run.violated("d\(device.number) does not report why it waits: \(error)")
            return [:]
        }
    }

    private func checkDrained(_ device: Device, in run: isolated Simulation) async {
        do throws(TidelogError) {
            let remainder = try await UndrainedQueue(device.store)
            guard !remainder.operations.isEmpty else { return }
            let left = remainder.reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            run.addTrace("left: \(left)")
            let stalled = remainder.stalled { !run.options.isStrict || device.settledEntities.contains($0) }
            if !stalled.isEmpty { run.violated("d\(device.number) stalls: \(stalled) of \(left)") }
            run.counts.visibleDoubts += remainder.operations.count
        } catch {
            run.violated("d\(device.number): \(error)")
        }
    }
}
