import DiskSimulation
import Gateway
import ODataSandbox
import OfflineStore
import Operations
import SyncCore

/// The identity of a state, and the invariants.
extension ExploredSystem {
    /// A digest of everything that determines the further behavior. The order of the requests on their way is not a
    /// part of it.
    func digest(_ budget: FaultBudget) async -> Int {
        var hasher = Hasher()
        hasher.combine(budget)
        hasher.combine(lostOutcomes)
        hasher.combine(service.ledger.created)
        hasher.combine(service.ledger.written)
        for device in devices {
            let number = device.number
            hasher.combine(device.work.count)
            hasher.combine(device.disk.hasCrashed)
            hasher.combine(uploads[number])
            hasher.combine(isUploading[number])
            hasher.combine(received[number])
            for path in device.disk.paths {
                hasher.combine(path)
                hasher.combine(device.disk[path])
            }
        }
        let waiting = exchanges.map { exchange in
            var hasher = Hasher()
            hasher.combine(exchange.owner)
            hasher.combine(exchange.device)
            hasher.combine(exchange.point)
            hasher.combine(exchange.request)
            hasher.combine(exchange.response)
            return hasher.finalize()
        }
        hasher.combine(waiting.sorted())
        for set in FieldService.sets {
            for entity in service.sandbox.contents(of: set) {
                hasher.combine(entity.number)
                hasher.combine(entity.values)
            }
        }
        for row in (try? await ledger.rows(in: nil, limit: 1_000)) ?? [] { hasher.combine(row) }
        return hasher.finalize()
    }

    /// Returns how often the operation's texts occurred on the service, at least and at most.
    private func effects(_ operation: ExploredOperation) -> ClosedRange<Int> {
        let counts = operation.texts.map {
            service.ledger.created[$0, default: 0] + service.ledger.written[$0, default: 0]
        }
        return (counts.min() ?? 0)...(counts.max() ?? 0)
    }

    /// The number of times that an operation may take effect: an update twice, if another device has overwritten it
    /// before its own could learn the outcome. With a gateway, only if the ledger never got this outcome.
    private func limit(_ operation: ExploredOperation) -> Int {
        guard operation.isUpdate else { return 1 }
        let isUnknown = !scenario.hasGateway || operation.texts.contains(where: lostOutcomes.contains)
        let isOverwritten = scenario.work.joined().contains { other in
            other.isUpdate && other.texts != operation.texts
                && other.texts.contains { service.ledger.written[$0, default: 0] > 0 }
        }
        return isUnknown && isOverwritten ? 2 : 1
    }

    /// Returns the violations of the invariants that hold in each state.
    func violations() -> [String] {
        var found = failures
        for operation in scenario.work.joined() {
            let effects = effects(operation)
            if effects.upperBound > limit(operation) {
                found.append("\(operation.texts) took effect \(effects.upperBound) times")
            }
            if effects.lowerBound != effects.upperBound { found.append("\(operation.texts) took effect in part") }
        }
        return found
    }

    /// Lets all participants end without further faults, and returns the violations of the final state.
    func drain() async -> [String] {
        for round in 0..<6 {
            await finishExchanges()
            elapsed.advance(milliseconds: 600_000)
            for device in devices {
                device.pass(seconds: 600)
                if device.disk.hasCrashed { await restart(device.number) }
                while !device.work.isEmpty { await take(.perform(device: device.number)) }
                if round < 5 {
                    startUpload(device.number)
                    await settle()
                    await finishExchanges()
                }
            }
        }
        var found = violations()
        for device in devices { found += await finalViolations(device) }
        return found
    }

    private func finishExchanges() async {
        while let exchange = exchanges.first { await take(.proceed(exchange: exchange.id)) }
    }

    private func finalViolations(_ device: ExploredDevice) async -> [String] {
        var found: [String] = []
        do throws(TidelogError) {
            let pending = try await device.store.queue.pendingOperations()
            let open = Dictionary(uniqueKeysWithValues: pending.map { ($0.sequence, $0.status) })
            for (sequence, operation) in device.performed.sorted(by: { $0.key < $1.key }) {
                let effects = effects(operation).upperBound
                switch open[sequence] {
                case nil:
                    if !(1...limit(operation)).contains(effects) {
                        found.append("\(operation.texts) is confirmed and took effect \(effects) times")
                    }
                case .inDoubt: doubts += 1
                case .rejected:
                    if effects != 0 { found.append("\(operation.texts) is rejected and took effect") }
                case .pending, .deferred, .inFlight: found.append("\(operation.texts) stalls: \(open[sequence]!)")
                }
            }
        } catch {
            found.append("d\(device.number): \(error)")
        }
        return found
    }
}
