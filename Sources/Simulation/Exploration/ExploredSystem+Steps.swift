import DiskSimulation
import Gateway
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// The steps of an explored system.
extension ExploredSystem {
    /// Returns the steps to try in this state. Faults come last.
    ///
    /// These are all possible steps, or only those of one device and of its requests, if they are independent of all
    /// others (an ample set in the sense of partial-order reduction). This is sound because:
    ///
    /// 1. Steps of a device and its requests read and change only the disk, the engine and the connection of the
    ///    device, the rows of its own requests in the ledger (their keys contain the client), and the device's own
    ///    faults; in addition the service, in the steps that ``sharesState(_:)`` names. No participant but the device
    ///    enables or disables them. Steps without the service therefore commute with all steps of other devices.
    /// 2. The gateway's process is shared. Its end concerns each request within it, so that a step of such a request,
    ///    or of one that enters it, is not independent as long as the process may end.
    /// 3. All steps of the device that are possible are tried, its faults included. A different step of the same device
    ///    cannot come first in an order that is left out.
    /// 4. The invariants concern the service, which these steps do not change, the lost outcomes of operations of this
    ///    device alone, and final states, which no reduction removes. Each step brings a run closer to its end, so that
    ///    no step is postponed forever.
    ///
    /// - Parameter reduces: Whether steps may be left out for this reason.
    func steps(_ budget: FaultBudget, reduces: Bool) -> [ExplorationStep] {
        let all = devices.map { steps(of: $0, budget) }
        if reduces, let alone = devices.first(where: { isIndependent($0, all[$0.number], budget) }) {
            return all[alone.number]
        }
        var possible = Array(all.joined())
        if budget.gateway > 0, exchanges.contains(where: { Self.inside.contains($0.point) }) {
            possible.append(.crashNode)
        }
        return possible.filter { !$0.isFault } + possible.filter(\.isFault)
    }

    /// The points within the gateway's process.
    private static let inside: Set<ExchangePoint> = [.claiming, .forwarding, .executed, .recording]

    private func isIndependent(_ device: ExploredDevice, _ steps: [ExplorationStep], _ budget: FaultBudget) -> Bool {
        guard !steps.isEmpty else { return false }
        return exchanges.filter { $0.owner == device.number }.allSatisfy { exchange in
            budget.gateway > 0 ? exchange.point == .responding : !sharesState(exchange)
        }
    }

    /// Returns whether the next step of the request reads or changes state of other devices: the service, or a ledger
    /// with a planted defect.
    private func sharesState(_ exchange: Exchange) -> Bool {
        switch exchange.point {
        case .sent: !scenario.hasGateway || exchange.request.method == "GET"
        case .forwarding: true
        case .claiming, .recording: scenario.plant == .crowdedLedger
        case .executed, .responding, .moving: false
        }
    }

    /// Returns the possible steps of a device and of its requests. Faults come last.
    private func steps(of device: ExploredDevice, _ budget: FaultBudget) -> [ExplorationStep] {
        let number = device.number
        let own = exchanges.filter { $0.owner == number }
        var steps: [ExplorationStep] = own.map { .proceed(exchange: $0.id) }
        if device.disk.hasCrashed {
            if !isUploading[number] { steps.append(.restart(device: number)) }
        } else {
            if !device.work.isEmpty { steps.append(.perform(device: number)) }
            if !isUploading[number], uploads[number] > 0, !device.performed.isEmpty {
                steps.append(.upload(device: number))
            }
        }
        guard budget.devices[number] > 0 else { return steps }
        for exchange in own {
            if exchange.device != nil {
                steps.append(.cut(device: number))
                if exchange.point != .responding, exchange.request.method != "GET" {
                    steps.append(.abandon(device: number))
                }
                steps.append(.crash(device: number))
            }
            if exchange.point == .forwarding || exchange.point == .executed {
                steps.append(.cutOrigin(exchange: exchange.id))
            }
        }
        return steps
    }

    /// Takes a step of a run with a limited number of faults.
    func take(_ step: ExplorationStep, _ budget: inout FaultBudget) async {
        switch step {
        case .perform, .upload, .restart, .proceed: break
        case .cut(let device), .abandon(let device), .crash(let device): budget.spend(of: device)
        case .cutOrigin(let id): budget.spend(of: index(id).flatMap { exchanges[$0].owner })
        case .crashNode: budget.spend(of: nil)
        }
        await take(step)
    }

    /// Takes a step, and waits until all participants wait again.
    func take(_ step: ExplorationStep) async {
        switch step {
        case .perform(let device):
            do throws(TidelogError) {
                try await devices[device].perform()
            } catch {
                failures.append("d\(device) cannot perform an operation: \(error)")
            }
        case .upload(let device):
            uploads[device] -= 1
            startUpload(device)
        case .restart(let device): await restart(device)
        case .proceed(let id): proceed(id)
        case .cut(let device):
            guard let index = exchanges.firstIndex(where: { $0.device == device }) else { return }
            let point = exchanges[index].point
            fail(index)
            if point == .sent || point == .responding { exchanges.remove(at: index) }
        case .abandon(let device):
            if let index = exchanges.firstIndex(where: { $0.device == device }) { fail(index) }
        case .cutOrigin(let id):
            guard let index = index(id) else { return }
            if exchanges[index].point == .executed { loseOutcome(of: exchanges[index]) }
            resume(index, .lost)
        case .crash(let device):
            devices[device].disk.crash()
            for index in exchanges.indices.reversed() where exchanges[index].device == device {
                let point = exchanges[index].point
                fail(index)
                if point == .responding { exchanges.remove(at: index) }
            }
        case .crashNode: await crashNode()
        }
        await settle()
    }

    private func proceed(_ id: Int) {
        guard let index = index(id) else { return }
        switch exchanges[index].point {
        case .sent:
            exchanges[index].point = .moving
            let request = exchanges[index].request
            begin()
            Task {
                let response = await carried(id, request)
                arrived(id, response)
            }
        case .responding: deliver(index)
        case .moving: break
        case .claiming, .forwarding, .executed, .recording: resume(index, .proceed)
        }
    }

    func startUpload(_ number: Int) {
        isUploading[number] = true
        begin()
        let engine = devices[number].engine
        Task {
            var problem: TidelogError?
            do throws(TidelogError) {
                _ = try await engine.upload(
                    UploadOptions(refused: .all, conflicts: .init(policy: .clientWins), retry: .impatient))
            } catch {
                problem = error
            }
            uploaded(number, problem)
        }
    }

    private func uploaded(_ number: Int, _ problem: TidelogError?) {
        isUploading[number] = false
        if let problem, !devices[number].disk.hasCrashed {
            switch problem.code {
            case .unreachable, .inDoubt, .service, .postponed: break
            default: failures.append("d\(number): the upload fails: \(problem)")
            }
        }
        end()
    }

    func restart(_ number: Int) async {
        received[number] = 0
        do throws(TidelogError) {
            try await devices[number].restart(self)
        } catch {
            failures.append("d\(number) cannot restart: \(error)")
        }
    }

    /// Ends the gateway's process. Its requests in progress have no further effect, and its connections break.
    private func crashNode() async {
        if scenario.plant == .forgetfulLedger { ledger = MemoryLedgerStorage(now: { [elapsed] in elapsed.now }) }
        for exchange in exchanges where exchange.point == .executed || exchange.point == .recording {
            loseOutcome(of: exchange)
        }
        node = makeNode()
        for id in exchanges.filter({ Self.inside.contains($0.point) }).map(\.id) {
            guard let index = index(id) else { continue }
            if exchanges[index].device != nil {
                fail(index)
                await settle()
            }
            guard let index = self.index(id) else { continue }
            exchanges[index].isDead = true
            resume(index, .dead)
            await settle()
        }
    }
}
