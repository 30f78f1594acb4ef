import EDM
import OfflineStore
import Operations
import SyncCore

/// The user's handling of pending operations.
extension DeviceUser {
    func arrange(in run: isolated Simulation) async {
        guard !device.hasCrashed, run.recorder == nil else { return }
        do throws(TidelogError) {
            let pending = try await device.store.queue.pendingOperations()
            guard !pending.isEmpty else { return }
            let chosen = pending[run.random.below(pending.count)]
            switch run.random.below(5) {
            case 0, 1: try await setDelivery(.queued, pending.filter { $0.operation.delivery == .draft }, in: run)
            case 2: try await setDelivery(.draft, [chosen], in: run)
            case 3: await discardRefused(in: run)
            // The user can inspect the service, but not requests that are still in the network.
            default: if !run.late.contains(where: { $0.device == device.number }) { _ = await settleDoubts(in: run) }
            }
        } catch {
            failed("arranging", error, in: run)
        }
    }

    private func setDelivery(_ delivery: Delivery, _ operations: [PendingOperation], in run: isolated Simulation)
        async throws(TidelogError)
    {
        let changed = try await device.store.queue.setDelivery(delivery, of: operations.map(\.sequence))
        run.addTrace("d\(device.number) makes \(changed) \(delivery)")
    }

    /// Releases about half of the drafts, undoes a quarter of them, and leaves the rest.
    func endDrafts(in run: isolated Simulation) async {
        do throws(TidelogError) {
            for pending in try await device.store.queue.pendingOperations() where pending.operation.delivery == .draft {
                // Undoing another draft may have undone this one as well.
                guard
                    try await device.store.queue.pendingOperations().contains(where: { $0.sequence == pending.sequence }
                    )
                else { continue }
                switch run.random.below(4) {
                case 0: try await undo([pending.sequence], in: run)
                case 1: break
                default: try await setDelivery(.queued, [pending], in: run)
                }
            }
        } catch {
            failed("end of drafts", error, in: run)
        }
    }

    func undo(in run: isolated Simulation) async {
        do throws(TidelogError) {
            let pending = try await device.store.queue.pendingOperations()
            guard !pending.isEmpty else { return }
            let sequence = pending[run.random.below(pending.count)].sequence
            try await undo([sequence], in: run)
            if run.random.chance(25) {
                let redone = try await device.store.queue.redoLast()
                run.addTrace("d\(device.number) redoes \(redone)")
            }
        } catch {
            if case .refused = error.code { return run.addTrace("not undone: \(error.message)") }
            if !device.hasCrashed { run.violated("d\(device.number): an undo fails: \(error)") }
        }
    }

    func undo(_ operations: [SequenceNumber], in run: isolated Simulation) async throws(TidelogError) {
        (device.clientOnly, device.app.drafts.isStale) = ([:], true)
        let report = try await device.store.queue.undo(.operations(operations))
        run.addTrace("d\(device.number) undoes \(report.undone)")
        if run.recorder != nil { await HistoryApp(device: device).recordUndone(report.undone, in: run) }
    }

    func discardRefused(in run: isolated Simulation) async {
        do throws(TidelogError) {
            for pending in try await device.store.queue.pendingOperations() {
                guard case .rejected = pending.status,
                    try await device.store.queue.pendingOperations().contains(where: { $0.sequence == pending.sequence }
                    )
                else { continue }
                do throws(TidelogError) {
                    try await undo([pending.sequence], in: run)
                } catch {
                    guard case .refused = error.code else { throw error }
                    run.addTrace("not discarded: \(error.message)")
                }
            }
        } catch {
            if !device.hasCrashed {
                run.violated("d\(device.number): a refused operation cannot be discarded: \(error)")
            }
        }
    }

    /// Records that an action failed. An action that the store refuses is not a violation.
    private func failed(_ what: String, _ error: TidelogError, in run: isolated Simulation) {
        switch error.code {
        case .refused, .invalidRequest: run.addTrace("d\(device.number): the \(what) was refused: \(error.message)")
        default: if !device.hasCrashed { run.violated("d\(device.number): the \(what) fails: \(error)") }
        }
    }

    // MARK: Doubts

    /// Settles operations in doubt like a user who inspects the service. Operations that were sent together are settled
    /// together, so operations with a visible effect are settled first.
    ///
    /// - Returns: Whether any operation was settled.
    func settleDoubts(in run: isolated Simulation) async -> Bool {
        var isSettled = false
        do throws(TidelogError) {
            for settlement in [DoubtSettlement.tookEffect, .resend] {
                for pending in try await device.store.queue.pendingOperations() {
                    let doubtful = try await device.store.queue.pendingOperations(.inDoubt)
                    guard doubtful.contains(where: { $0.sequence == pending.sequence }),
                        settlement == .resend || hasEffect(pending, among: doubtful, run.service.ledger)
                    else { continue }
                    let settled = try await device.store.doubts.resolveInDoubt(pending.sequence, as: settlement)
                    if settlement == .tookEffect {
                        for known in doubtful where settled.contains(known.sequence) {
                            device.settledEntities.formUnion(known.operation.createdEntities)
                        }
                    }
                    run.addTrace("d\(device.number) settles \(settled) as \(settlement)")
                    isSettled = true
                }
            }
        } catch {
            failed("settlement of doubts", error, in: run)
        }
        return isSettled
    }

    /// Returns whether the service contains data that only this operation can have written. A deletion or a link writes
    /// no such data; for these, all operations in doubt of the same batch must be in effect.
    private func hasEffect(
        _ pending: PendingOperation, among doubtful: [PendingOperation], _ ledger: Ledger
    ) -> Bool {
        if let mark = pending.operation.calledMark { return ledger.created[mark] != nil }
        switch pending.operation.action {
        case .create(let creation, _):
            return creation.values["Mark"]?.stringValue.map { ledger.created[$0] != nil } ?? false
        case .update(_, let changes, _):
            return changes.contains { $0.value.stringValue.map { ledger.written[$0] != nil } ?? false }
        case .delete, .createLink, .updateLink, .deleteLink:
            guard let marks = (try? device.allRecords()).map({ History($0).marks }) else { return false }
            return doubtful.filter { $0.status.batch == pending.status.batch }.allSatisfy {
                isAsMeant($0.operation, marks, ledger)
            }
        }
    }

    private func isAsMeant(_ operation: Operation, _ marks: [EntityID: String], _ ledger: Ledger) -> Bool {
        func isThere(_ link: Link) -> Bool {
            ledger.links.contains("\(marks[link.from] ?? "") \(link.navigation) \(marks[link.to] ?? "")")
        }
        return switch operation.action {
        case .create, .update: false
        case .delete(let entity): !ledger.present.contains(marks[entity] ?? "")
        case .createLink(let link), .updateLink(let link): isThere(link)
        case .deleteLink(let link): !isThere(link)
        }
    }
}
