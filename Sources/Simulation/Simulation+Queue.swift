import EDM
import Operations
import SyncCore
import SyncEngine

/// The user's handling of pending operations.
extension Simulation {
    func arrange(_ device: Device) async {
        guard !device.hasCrashed, recorder == nil else { return }
        do throws(TidelogError) {
            let pending = try await device.store.pendingOperations()
            guard !pending.isEmpty else { return }
            let chosen = pending[random.below(pending.count)]
            switch random.below(5) {
            case 0, 1: try await setDelivery(.queued, pending.filter { $0.operation.delivery == .draft }, device)
            case 2: try await setDelivery(.draft, [chosen], device)
            case 3: await discardRefused(device)
            // The user can inspect the service, but not requests that are still in the network.
            default: if !late.contains(where: { $0.device == device.number }) { _ = await resolveInDoubt(device) }
            }
        } catch {
            failed("arranging", device, error)
        }
    }

    private func setDelivery(
        _ delivery: Delivery, _ operations: [PendingOperation], _ device: Device
    ) async throws(TidelogError) {
        let changed = try await device.store.setDelivery(delivery, of: operations.map(\.sequence))
        addTrace("d\(device.number) makes \(changed) \(delivery)")
    }

    /// Releases about half of the drafts, undoes a quarter of them, and leaves the rest.
    func endDrafts(_ device: Device) async {
        do throws(TidelogError) {
            for pending in try await device.store.pendingOperations() where pending.operation.delivery == .draft {
                // Undoing another draft may have undone this one as well.
                guard try await device.store.pendingOperations().contains(where: { $0.sequence == pending.sequence })
                else { continue }
                switch random.below(4) {
                case 0: try await undo([pending.sequence], device)
                case 1: break
                default: try await setDelivery(.queued, [pending], device)
                }
            }
        } catch {
            failed("end of drafts", device, error)
        }
    }

    /// Records that an action failed. An action that the store refuses is not a violation.
    private func failed(_ what: String, _ device: Device, _ error: TidelogError) {
        switch error.code {
        case .refused, .invalidRequest: addTrace("d\(device.number): the \(what) was refused: \(error.message)")
        default: if !device.hasCrashed { violated("d\(device.number): the \(what) fails: \(error)") }
        }
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
                addTrace("d\(device.number) redoes \(redone)")
            }
        } catch {
            if case .refused = error.code { return addTrace("not undone: \(error.message)") }
            if !device.hasCrashed { violated("d\(device.number): an undo fails: \(error)") }
        }
    }

    func undo(_ operations: [SequenceNumber], _ device: Device) async throws(TidelogError) {
        (device.clientOnly, device.app.drafts.isStale) = ([:], true)
        let report = try await device.store.undo(.operations(operations))
        addTrace("d\(device.number) undoes \(report.undone)")
        if recorder != nil { await HistoryApp(device: device).recordUndone(report.undone, in: self) }
    }

    func discardRefused(_ device: Device) async {
        do throws(TidelogError) {
            for pending in try await device.store.pendingOperations() {
                guard case .rejected = pending.status,
                    try await device.store.pendingOperations().contains(where: { $0.sequence == pending.sequence })
                else { continue }
                do throws(TidelogError) {
                    try await undo([pending.sequence], device)
                } catch {
                    guard case .refused = error.code else { throw error }
                    addTrace("not discarded: \(error.message)")
                }
            }
        } catch {
            if !device.hasCrashed { violated("d\(device.number): a refused operation cannot be discarded: \(error)") }
        }
    }

    // MARK: Doubts

    /// Settles operations in doubt like a user who inspects the service. Operations that were sent together are settled
    /// together, so operations with a visible effect are settled first.
    ///
    /// - Returns: Whether any operation was settled.
    func resolveInDoubt(_ device: Device) async -> Bool {
        var isSettled = false
        do throws(TidelogError) {
            for settlement in [DoubtSettlement.tookEffect, .resend] {
                for pending in try await device.store.pendingOperations() {
                    let doubtful = try await device.store.pendingOperations(.inDoubt)
                    guard doubtful.contains(where: { $0.sequence == pending.sequence }),
                        settlement == .resend || hasEffect(pending, among: doubtful, device)
                    else { continue }
                    let settled = try await device.store.resolveInDoubt(pending.sequence, as: settlement)
                    if settlement == .tookEffect {
                        for known in doubtful where settled.contains(known.sequence) {
                            device.settledEntities.formUnion(known.operation.createdEntities)
                        }
                    }
                    addTrace("d\(device.number) settles \(settled) as \(settlement)")
                    isSettled = true
                }
            }
        } catch {
            failed("settlement of doubts", device, error)
        }
        return isSettled
    }

    /// Returns whether the service contains data that only this operation can have written. A deletion or a link writes
    /// no such data; for these, all operations in doubt of the same batch must be in effect.
    private func hasEffect(
        _ pending: PendingOperation, among doubtful: [PendingOperation], _ device: Device
    ) -> Bool {
        if let mark = pending.operation.calledMark { return service.ledger.created[mark] != nil }
        switch pending.operation.action {
        case .create(let creation, _):
            return creation.values["Mark"]?.stringValue.map { service.ledger.created[$0] != nil } ?? false
        case .update(_, let changes, _):
            return changes.contains { $0.value.stringValue.map { service.ledger.written[$0] != nil } ?? false }
        case .delete, .createLink, .updateLink, .deleteLink:
            guard let marks = (try? device.allRecords()).map({ History($0).marks }) else { return false }
            return doubtful.filter { $0.status.batch == pending.status.batch }.allSatisfy {
                isAsMeant($0.operation, marks)
            }
        }
    }

    private func isAsMeant(_ operation: Operation, _ marks: [EntityID: String]) -> Bool {
        func isThere(_ link: Link) -> Bool {
            service.ledger.links.contains("\(marks[link.from] ?? "") \(link.navigation) \(marks[link.to] ?? "")")
        }
        return switch operation.action {
        case .create, .update: false
        case .delete(let entity): !service.ledger.present.contains(marks[entity] ?? "")
        case .createLink(let link), .updateLink(let link): isThere(link)
        case .deleteLink(let link): !isThere(link)
        }
    }
}
