import DiskSimulation
import Gateway
import GatewayCore
import Logging
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import Synchronization
import Transport

/// Two devices, their service, and optionally a gateway between them. Each participant waits at every point at which
/// the order of events matters, until the explorer lets it continue.
///
/// At most one participant runs at a time, so the state after a series of steps depends only on the steps.
actor ExploredSystem {
    /// A request on its way.
    private struct Exchange {
        let id: Int
        /// Nil if the device has given up.
        var device: Int?
        let request: WireRequest
        var point = ExchangePoint.sent
        var response: WireResponse?
        /// Whether the gateway's process that carries the request has ended.
        var isDead = false
        /// Resumes the request within the gateway.
        var carrier: CheckedContinuation<ExchangeSignal, Never>?
        /// Resumes the device.
        var waiter: CheckedContinuation<Result<WireResponse, TransportError>, Never>?
    }

    let scenario: ExplorationScenario
    private(set) var service: SimulatedService
    private var devices: [ExploredDevice] = []
    private var uploads: [Int]
    private var isUploading: [Bool]
    private var exchanges: [Exchange] = []
    private var count = 0
    /// A digest of the responses that each process has received.
    private var received: [Int]
    private var ledger: MemoryLedgerStorage
    private let elapsed: VirtualClock
    private var node: GatewayService?
    /// The number of participants that are not waiting.
    private var running = 0
    private var quiescence: CheckedContinuation<Void, Never>?
    private(set) var failures: [String] = []

    init(_ scenario: ExplorationScenario, _ image: ExplorationImage?) async throws {
        self.scenario = scenario
        service = image?.service ?? SimulatedService(scenario.sandbox)
        let elapsed = VirtualClock(seed: 9)
        self.elapsed = elapsed
        ledger = MemoryLedgerStorage(now: { elapsed.now })
        uploads = scenario.work.map { _ in scenario.uploads }
        isUploading = scenario.work.map { _ in false }
        received = scenario.work.map { _ in 0 }
        if scenario.hasGateway { node = makeNode() }
        for (number, work) in scenario.work.enumerated() {
            devices.append(
                try await ExploredDevice(
                    number, image?.disks[number].copy() ?? SimulatedDisk(), self, root: scenario.root,
                    service: scenario.options, work: work))
        }
    }

    private func makeNode() -> GatewayService {
        var configuration = GatewayConfiguration(
            listen: .unix(path: "/none"), publicRoot: ServiceRoot(ExplorationScenario.publicRoot)!, storage: .memory,
            endpoints: [.init(name: "field", root: ServiceRoot(FieldService.origin + "/v4/")!)])
        configuration.limits.requests = 1_000
        configuration.limits.requestsPerUser = 1_000
        configuration.limits.requestsPerEndpoint = 1_000
        var environment = GatewayEnvironment()
        environment.sleep = { _ in }
        environment.patience = 0
        environment.logger = Logger(label: "explored") { _ in SwiftLogNoOpLogHandler() }
        return GatewayService(
            configuration, storage: ExploredLedger(system: self, durable: ledger), secret: [1, 2, 3],
            transports: ["field": OriginConnection(system: self)], environment: environment)
    }

    /// Installs the devices and returns the image from which all runs of the scenario begin.
    func install() async throws -> ExplorationImage {
        for device in devices {
            isInstalling = true
            try await device.install()
            await device.store.close()
        }
        return ExplorationImage(disks: devices.map { $0.disk.copy() }, service: service)
    }

    private var isInstalling = false

    func close() async { for device in devices { await device.store.close() } }

    // MARK: Participants

    private func begin() { running += 1 }

    private func end() {
        running -= 1
        guard running == 0 else { return }
        quiescence?.resume()
        quiescence = nil
    }

    /// Waits until all participants wait for the explorer.
    private func settle() async {
        guard running > 0 else { return }
        await withCheckedContinuation { quiescence = $0 }
    }

    private func index(_ id: Int) -> Int? { exchanges.firstIndex { $0.id == id } }

    /// Sends a request of a device, and returns the response or the failure of the connection.
    func send(
        _ request: WireRequest, from device: Int, process: Int
    ) async -> Result<WireResponse, TransportError> {
        let failure = TransportError(.disconnected, "Explored.", mayHaveBeenSent: true)
        if isInstalling {
            let id = nextExchange(request, nil)
            return .success(await carried(id, request))
        }
        guard devices[device].process == process, !devices[device].disk.hasCrashed else { return .failure(failure) }
        let id = nextExchange(request, device)
        return await withCheckedContinuation { waiter in
            if let index = index(id) { exchanges[index].waiter = waiter }
            end()
        }
    }

    private func nextExchange(_ request: WireRequest, _ device: Int?) -> Int {
        count += 1
        exchanges.append(Exchange(id: count, device: device, request: request))
        return count
    }

    /// Carries a request to the service and returns the response.
    private func carried(_ id: Int, _ request: WireRequest) async -> WireResponse {
        guard let node else { return service.handle(request, from: 0) }
        let incoming = IncomingRequest(
            method: request.method, target: request.url, headers: request.headersWithLength,
            body: IncomingBody(request.body))
        let response = await CurrentExchange.$id.withValue(id) { await node.answer(incoming) }
        do throws(TransportError) {
            return try await WireResponse(response)
        } catch {
            return WireResponse(status: 502, headers: [:], body: [])
        }
    }

    /// Handles a request that the gateway forwards.
    func forward(_ request: WireRequest, of id: Int?) async -> Result<WireResponse, TransportError> {
        let failure = TransportError(.disconnected, "Explored.", mayHaveBeenSent: true)
        if request.method == "GET" { return .success(service.handle(request, from: 0)) }
        guard await wait(at: .forwarding, id) == .proceed else { return .failure(failure) }
        let response = service.handle(request, from: 0)
        guard await wait(at: .executed, id) == .proceed else { return .failure(failure) }
        return .success(response)
    }

    /// Waits until the explorer lets the request continue.
    func wait(at point: ExchangePoint, _ id: Int?) async -> ExchangeSignal {
        if isInstalling { return .proceed }
        guard let id, let index = index(id), !exchanges[index].isDead else { return .dead }
        return await withCheckedContinuation { carrier in
            exchanges[index].point = point
            exchanges[index].carrier = carrier
            end()
        }
    }

    /// Ends the way of a request. Reads arrive at their device at once.
    private func arrived(_ id: Int, _ response: WireResponse) {
        defer { end() }
        guard let index = index(id) else { return }
        guard !exchanges[index].isDead, exchanges[index].device != nil else {
            exchanges.remove(at: index)
            return
        }
        exchanges[index].response = response
        exchanges[index].point = .responding
        if exchanges[index].request.method == "GET" { deliver(index) }
    }

    private func deliver(_ index: Int) {
        let exchange = exchanges.remove(at: index)
        guard let response = exchange.response, let device = exchange.device else { return }
        var hasher = Hasher()
        hasher.combine(received[device])
        hasher.combine(exchange.request)
        hasher.combine(response)
        received[device] = hasher.finalize()
        begin()
        exchange.waiter?.resume(returning: .success(response))
    }

    /// Fails the device's request.
    private func fail(_ index: Int) {
        let waiter = exchanges[index].waiter
        if let device = exchanges[index].device { received[device] &+= 1 }
        (exchanges[index].waiter, exchanges[index].device) = (nil, nil)
        begin()
        waiter?.resume(returning: .failure(TransportError(.disconnected, "Explored.", mayHaveBeenSent: true)))
    }

    private func resume(_ index: Int, _ signal: ExchangeSignal) {
        let carrier = exchanges[index].carrier
        exchanges[index].carrier = nil
        exchanges[index].point = .moving
        begin()
        carrier?.resume(returning: signal)
    }

    // MARK: Steps

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

    private func startUpload(_ number: Int) {
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

    private func restart(_ number: Int) async {
        received[number] = 0
        do throws(TidelogError) {
            try await devices[number].restart(self)
        } catch {
            failures.append("d\(number) cannot restart: \(error)")
        }
    }

    /// Ends the gateway's process: what it was doing has no further effect, and its connections break.
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

    // MARK: Identity and invariants

    /// A digest of everything that determines the further behavior.
    func digest(faults: Int) async -> Int {
        var hasher = Hasher()
        hasher.combine(faults)
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
        for exchange in exchanges {
            hasher.combine(exchange.device)
            hasher.combine(exchange.point)
            hasher.combine(exchange.request)
            hasher.combine(exchange.response)
        }
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

    /// Returns the violations of the invariants that hold in each state.
    func violations() -> [String] {
        var found = failures
        for operation in scenario.work.joined() {
            let effects = effects(operation)
            if effects.upperBound > 1 { found.append("\(operation.texts) took effect \(effects.upperBound) times") }
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
            let pending = try await device.store.pendingOperations()
            let open = Dictionary(uniqueKeysWithValues: pending.map { ($0.sequence, $0.status) })
            for (sequence, operation) in device.performed.sorted(by: { $0.key < $1.key }) {
                let effects = effects(operation).upperBound
                switch open[sequence] {
                case nil:
                    if effects != 1 { found.append("\(operation.texts) is confirmed and took effect \(effects) times") }
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

    /// The number of operations that are in doubt at the end.
    private(set) var doubts = 0
}

/// The disks and the service at the beginning of all runs of a scenario.
struct ExplorationImage {
    let disks: [SimulatedDisk]
    let service: SimulatedService
}

extension WireRequest {
    /// The headers with the length of the body, which a server requires.
    fileprivate var headersWithLength: HTTPHeaders {
        var headers = headers
        headers["Host"] = "gateway.test"
        if method != "GET" { headers["Content-Length"] = String(body.count) }
        return headers
    }
}
