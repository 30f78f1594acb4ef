import DiskSimulation
import Gateway
import ODataWire
import OfflineStore
import SyncCore
import SyncEngine

/// The steps of an explored system.
extension ExploredSystem {
    /// Returns the steps that are possible now. Faults come last.
    func steps(faults: Int) -> [ExplorationStep] {
        var steps: [ExplorationStep] = exchanges.map { .proceed(exchange: $0.id) }
        for device in devices {
            let number = device.number
            if device.disk.hasCrashed {
                if !isUploading[number] { steps.append(.restart(device: number)) }
                continue
            }
            if !device.work.isEmpty { steps.append(.perform(device: number)) }
            if !isUploading[number], uploads[number] > 0, !device.performed.isEmpty {
                steps.append(.upload(device: number))
            }
        }
        guard faults > 0 else { return steps }
        for exchange in exchanges {
            if let device = exchange.device {
                steps.append(.cut(device: device))
                if exchange.point != .responding, exchange.request.method != "GET" {
                    steps.append(.abandon(device: device))
                }
                steps.append(.crash(device: device))
            }
            if exchange.point == .forwarding || exchange.point == .executed {
                steps.append(.cutOrigin(exchange: exchange.id))
            }
        }
        let inside: Set<ExchangePoint> = [.claiming, .forwarding, .executed, .recording]
        if exchanges.contains(where: { inside.contains($0.point) }) { steps.append(.crashNode) }
        return steps
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
        case .cutOrigin(let id): if let index = index(id) { resume(index, .lost) }
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
        node = makeNode()
        let inside: Set<ExchangePoint> = [.claiming, .forwarding, .executed, .recording]
        for id in exchanges.filter({ inside.contains($0.point) }).map(\.id) {
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
