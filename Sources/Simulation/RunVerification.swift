import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Verifies the invariants at the end of a run.
struct RunVerification {
    func verify(in run: isolated Simulation) async {
        var accounts: [DeviceHistory] = []
        for device in run.devices {
            do {
                let records = try device.allRecords()
                try await verifyFold(device, records, in: run)
                run.counts.add(RemovalVerification(run.habits.removedSets, records).removed.count, .removals)
                accounts.append(try await account(of: device, History(records), in: run))
            } catch {
                run.violated("d\(device.number) cannot be read: \(error)")
            }
        }
        guard run.violations.isEmpty else { return }
        var orphaned = run.orphaned
        orphaned.addDeletedTwins(of: accounts)
        let effects = EffectVerification(ledger: run.service.ledger, orphaned: orphaned)
        for violation in effects.violations(in: accounts) { run.violated(violation) }
        let causes = CauseVerification(ledger: run.service.ledger, initialValues: run.initialValues)
        for violation in causes.violations(in: accounts) { run.violated(violation) }
        var outcome = OutcomeVerification(
            ledger: run.service.ledger, orphaned: orphaned, initialValues: run.initialValues)
        for violation in outcome.violations(in: accounts) { run.violated(violation) }
        var drafts = DraftVerification(ledger: run.service.ledger, supportsBatch: run.serviceOptions.supportsBatch)
        for violation in drafts.violations(in: accounts) { run.violated(violation) }
        run.counts.add(drafts.uploaded, .activationsUploaded)
        for device in run.devices {
            do {
                try await verifyAgreement(device, in: run)
            } catch {
                run.violated("d\(device.number) cannot be compared: \(error)")
            }
        }
    }

    private func account(of device: Device, _ history: History, in run: isolated Simulation) async throws
        -> DeviceHistory
    {
        var standings: [SequenceNumber: DeviceHistory.Outcome] = [:]
        for pending in try await device.store.queue.pendingOperations() {
            switch pending.status {
            case .inDoubt, .inFlight: standings[pending.sequence] = .unknown
            default: standings[pending.sequence] = .without
            }
        }
        for undone in try await device.store.queue.undoneOperations() { standings[undone.sequence] = .without }
        for elided in history.elided { standings[elided] = .without }
        return DeviceHistory(
            device: device.number, acknowledged: device.acknowledged, history: history, endings: standings)
    }

    /// Checks that the views equal the fold of the log from its first record, computed with a different storage.
    ///
    /// If a compaction has removed records, and otherwise at random, also checks that the reopened store has the same
    /// state. During the fold, each batch is rebuilt and compared with the batch that was sent.
    private func verifyFold(
        _ device: Device, _ records: [(sequence: SequenceNumber, record: Record)], in run: isolated Simulation
    ) async throws {
        let found = try await device.store.digest()
        let state = WorkingSet(keepsDigest: true)
        state.models = run.options.metadata.source
        var fold = try Fold(storage: state)
        for (sequence, record) in records {
            if case .batchPrepared(let prepared) = record.body { try verifyBatch(prepared, device, &fold, in: run) }
            try fold.apply(record, sequence: sequence)
        }
        try fold.finishRebase()
        let expected = try StateDigest(of: fold.storage).description
        if fold.storage.digest?.description != expected {
            run.violated("d\(device.number): the incremental digest differs from the digest of the state.")
        }
        if found != expected { run.violated("d\(device.number): the views are not the fold of the log.") }
        guard run.random.chance(device.removed.isEmpty ? 25 : 100) else { return }
        await DeviceProcess(device: device).reopen(in: run)
        let again = try await device.store.digest()
        if found != again { run.violated("d\(device.number) has another state after it was reopened.") }
    }

    /// - Parameter fold: The state before the record of the prepared batch.
    private func verifyBatch(
        _ prepared: BatchPrepared, _ device: Device, _ fold: inout Fold, in run: isolated Simulation
    ) throws {
        try fold.finishRebase()
        guard let model = fold.model, let root = try fold.storage.header().service?.root else { return }
        let rebuilt = try RebuiltBatch(
            prepared, on: fold.storage, model, serviceRoot: root, options: ServiceOptions())
        guard rebuilt.comparison != .identical else { return }
        run.violated(
            "d\(device.number): batch \(prepared.batch) is not rebuilt as it was sent (\(rebuilt.comparison)).")
    }

    // MARK: Agreement

    /// Checks that the store and the service contain the same entities and links.
    private func verifyAgreement(_ device: Device, in run: isolated Simulation) async throws {
        try await device.app.verifyDrafts(device)
        DeviceUser(device: device).addFindings(in: run)
        run.counts.add(device.app.drafts.expected.count, .openDrafts)
        try await verifyClientOnly(device, in: run)
        if run.habits.readsKeyless { try await verifyKeyless(device, in: run) }
        try await undoWhatStays(device, in: run)
        guard try await device.store.queue.pendingOperations().isEmpty else { return }
        let difference = LineDifference(try await FieldService.lines(of: device.store), run.service.lines)
        difference.missing.forEach { run.violated("d\(device.number) does not have: \($0)") }
        difference.additional.forEach { run.violated("Only d\(device.number) has, or has several times: \($0)") }
    }

    /// Checks that the store still has each value that only it knows, if it still has the entity.
    private func verifyClientOnly(_ device: Device, in run: isolated Simulation) async throws {
        for order in try await device.store.query("Orders").entities {
            guard let id = order.entityID, let expected = device.clientOnly[id] else { continue }
            let found = order.values[FieldService.clientOnly]
            if found != expected {
                run.violated("d\(device.number): \(id) has \(String(describing: found)), not \(expected).")
            }
        }
    }

    /// Checks that the last download has quarantined each entity without a key, and stored none.
    private func verifyKeyless(_ device: Device, in run: isolated Simulation) async throws {
        let found = try await device.store.downloads.quarantine().map(\.entity).filter {
            $0.query == FieldService.keyless && $0.reason == .withoutKey
        }
        run.counts.add(found.count, .keylessEntities)
        let marks = run.service.sandbox.contents(of: FieldService.keyless).compactMap { $0.values["Mark"]?.stringValue }
        for mark in marks where !found.contains(where: { $0.text.contains(mark) }) {
            run.violated("d\(device.number): \(mark), which has no key, is not in quarantine.")
        }
        if try await !device.store.query(FieldService.keyless).entities.isEmpty {
            run.violated("d\(device.number) has stored entities without keys.")
        }
    }

    /// Undoes local-only operations and the remaining drafts, because they would hide other differences.
    private func undoWhatStays(_ device: Device, in run: isolated Simulation) async throws {
        for pending in try await device.store.queue.pendingOperations() where pending.operation.delivery != .queued {
            guard try await device.store.queue.pendingOperations().contains(where: { $0.sequence == pending.sequence })
            else {
                continue
            }
            try await DeviceUser(device: device).undo([pending.sequence], in: run)
        }
    }
}
