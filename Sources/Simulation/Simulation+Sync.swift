import EDM
import Operations
import SyncCore
import SyncEngine

/// Uploads, downloads, and what a user does about what the service refused.
extension Simulation {
    func upload(_ device: Device) async {
        guard !device.hasCrashed else { return }
        note("d\(device.number) uploads")
        do throws(TidelogError) {
            let report = try await device.engine.upload(
                UploadOptions(
                    requestLimit: [500, 500, 3][random.below(3)], conflicts: conflictHandling(),
                    ignoresPostponement: random.chance(20)))
            counts.confirmed += report.confirmed.count
            counts.rejected += report.rejected.count
            note("uploaded: \(report.confirmed) rejected \(report.rejected.map { "\($0.operation): \($0.refusal)" })")
            for (operation, refusal) in report.rejected where refusal.status == 412 && !options.isStrict {
                device.contested.insert(operation)
            }
            check(report)
        } catch {
            failed("upload", device, error)
        }
    }

    /// In the storm what both changed waits, or a policy settles it; afterwards each device insists in turn.
    private func conflictHandling() -> ConflictHandling {
        if isStormy {
            switch random.below(8) {
            case 0: return ConflictHandling(policy: .serverWins)
            case 1: return ConflictHandling(policy: .clientWins)
            case 2, 3: return ConflictHandling(policy: .merge(overlapping: .serverWins))
            default: return ConflictHandling()
            }
        }
        return ConflictHandling(policy: .merge(overlapping: .clientWins)) { conflict in
            // What another device deleted can only be given up.
            conflict.kind == .deletedByOthers ? .theirs : nil
        }
    }

    /// Who is alone with the service, and is always answered, is never refused.
    private func check(_ report: UploadReport) {
        guard deviceCount == 1, severity == 0, counts.restarts == 0, !report.rejected.isEmpty else { return }
        violated("The service refused what no one else had touched: \(report.rejected)")
    }

    func download(_ device: Device) async {
        guard !device.hasCrashed else { return }
        note("d\(device.number) downloads")
        do throws(TidelogError) {
            let report = try await device.engine.download()
            note("downloaded \(report.entities)")
            try await refresh(device)
        } catch {
            failed("download", device, error)
        }
    }

    private func failed(_ what: String, _ device: Device, _ error: TidelogError) {
        note("d\(device.number): the \(what) fails: \(error)")
        if device.hasCrashed { return }
        switch error.code {
        case .unreachable, .unauthorized, .service, .notOData, .inDoubt, .postponed, .cancelled:
            if isStormy || !device.isOnline { return }
        default: break
        }
        violated("d\(device.number): the \(what) fails: \(error)")
    }

    // MARK: Undo

    func undo(_ device: Device) async {
        do throws(TidelogError) {
            let pending = try await device.store.pendingOperations()
            guard !pending.isEmpty else { return }
            let sequence = pending[random.below(pending.count)].sequence
            try await undo([sequence], device)
            if random.chance(25) {
                let redone = try await device.store.redoLast()
                note("d\(device.number) redoes \(redone)")
            }
        } catch {
            if case .refused = error.code { return note("not undone: \(error.message)") }
            if !device.hasCrashed { violated("d\(device.number): an undo fails: \(error)") }
        }
    }

    private func undo(_ operations: [SequenceNumber], _ device: Device) async throws(TidelogError) {
        let report = try await device.store.undo(.operations(operations))
        note("d\(device.number) undoes \(report.undone)")
    }

    // MARK: The end of the storm

    /// Nothing goes wrong any more: in a few rounds every device has sent what can be sent and says what the service says.
    func drain() async {
        note("the storm is over")
        for device in devices {
            device.isOnline = true
            device.calmDisk()
        }
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
                await upload(device)
                if round > 1 {
                    await discardRefused(device)
                    isUnsettled = await settleDoubts(device) || isUnsettled
                }
                if await !reasons(device).isEmpty { await download(device) }
                left.append(await reasons(device))
                // What the download has shown of others is for the next upload to settle.
                if let open = try? await device.store.conflicts(), !open.isEmpty { isUnsettled = true }
            }
            // What is left a second time, and for the same reasons, will not go.
            if round > 1, left == before, !isUnsettled { break }
        }
        for device in devices where violations.isEmpty { await download(device) }
        note("drained in \((clock.now - start) / 1_000) seconds")
        for device in devices where violations.isEmpty { await checkDrained(device) }
    }

    private func discardRefused(_ device: Device) async {
        do throws(TidelogError) {
            for pending in try await device.store.pendingOperations() {
                guard case .rejected = pending.status,
                    try await device.store.pendingOperations().contains(where: { $0.sequence == pending.sequence })
                else { continue }
                do throws(TidelogError) {
                    try await undo([pending.sequence], device)
                } catch {
                    guard case .refused = error.code else { throw error }
                    note("not discarded: \(error.message)")
                }
            }
        } catch {
            violated("d\(device.number): a refused operation cannot be discarded: \(error)")
        }
    }

    private func reasons(_ device: Device) async -> [SequenceNumber: String] {
        do throws(TidelogError) {
            return try await Remainder(device.store).reasons
        } catch {
            violated("d\(device.number) does not say why it waits: \(error)")
            return [:]
        }
    }

    private func checkDrained(_ device: Device) async {
        do throws(TidelogError) {
            let remainder = try await Remainder(device.store)
            guard !remainder.operations.isEmpty else { return }
            let left = remainder.reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            note("left: \(left)")
            let stalled = remainder.stalled { !options.isStrict || device.settledEntities.contains($0) }
            if !stalled.isEmpty { violated("d\(device.number) stalls: \(stalled) of \(left)") }
            counts.visibleDoubts += remainder.operations.count
        } catch {
            violated("d\(device.number): \(error)")
        }
    }

    /// Who is asked looks at the service, and knows. Operations that were sent together are settled together, so those come
    /// first of which something is to be seen there.
    ///
    /// - Returns: whether there was something to settle.
    private func settleDoubts(_ device: Device) async -> Bool {
        var isSettled = false
        do throws(TidelogError) {
            for settlement in [DoubtSettlement.tookEffect, .resend] {
                for pending in try await device.store.pendingOperations() {
                    guard settlement == .resend || hasEffect(pending.operation),
                        try await isInDoubt(pending.sequence, device)
                    else { continue }
                    let doubtful = try await device.store.pendingOperations()
                    let settled = try await device.store.settle(pending.sequence, as: settlement)
                    if settlement == .tookEffect {
                        for known in doubtful where settled.contains(known.sequence) {
                            device.settledEntities.formUnion(known.operation.createdEntities)
                        }
                    }
                    note("d\(device.number) settles \(settled) as \(settlement)")
                    isSettled = true
                }
            }
        } catch {
            violated("d\(device.number): an operation in doubt cannot be settled: \(error)")
        }
        return isSettled
    }

    private func isInDoubt(_ operation: SequenceNumber, _ device: Device) async throws(TidelogError) -> Bool {
        try await device.store.pendingOperations().contains {
            if case .inDoubt = $0.status { $0.sequence == operation } else { false }
        }
    }

    private func hasEffect(_ operation: Operation) -> Bool {
        switch operation.action {
        case .create(let creation, _):
            creation.values["Mark"]?.stringValue.map { service.ledger.created[$0] != nil } ?? false
        case .update(_, let changes, _):
            changes.contains { $0.value.stringValue.map { service.ledger.written[$0] != nil } ?? false }
        default: false
        }
    }
}
