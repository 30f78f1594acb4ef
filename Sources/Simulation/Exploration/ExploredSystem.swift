import DiskSimulation
import Gateway
import GatewayCore
import Logging
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SyncCore
import Synchronization
import Transport

/// Two devices, their service, and optionally a gateway between them. Each participant waits at every point at which
/// the order of events matters, until the explorer lets it continue.
///
/// At most one participant runs at a time, so the state after a series of steps depends only on the steps.
actor ExploredSystem {
    /// A request on its way.
    struct Exchange {
        let id: Int
        /// The device that has sent the request; nil during the installation.
        let owner: Int?
        /// The device that awaits the response; nil if it has given up.
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
    var service: SimulatedService
    var devices: [ExploredDevice] = []
    var uploads: [Int]
    var isUploading: [Bool]
    var exchanges: [Exchange] = []
    private var count = 0
    /// A digest of the responses that each process has received.
    var received: [Int]
    var ledger: MemoryLedgerStorage
    let elapsed: VirtualClock
    var node: GatewayService?
    /// The number of participants that are not waiting.
    private var running = 0
    private var quiescence: CheckedContinuation<Void, Never>?
    var failures: [String] = []
    /// The texts of the operations whose request was executed without an outcome in the ledger.
    private(set) var lostOutcomes: Set<String> = []

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

    /// Notes that the outcome of a request that may have been executed is lost before the ledger has it.
    func loseOutcome(of exchange: Exchange) {
        let body = String(decoding: exchange.request.body, as: UTF8.self)
        for operation in scenario.work.joined() { lostOutcomes.formUnion(operation.texts.filter(body.contains)) }
    }

    func makeNode() -> GatewayService {
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
        let storage = ExploredLedger(
            system: self, durable: ledger, isCrowded: scenario.plant == .crowdedLedger)
        return GatewayService(
            configuration, storage: storage, secret: [1, 2, 3],
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

    func begin() { running += 1 }

    func end() {
        running -= 1
        guard running == 0 else { return }
        quiescence?.resume()
        quiescence = nil
    }

    /// Waits until all participants wait for the explorer.
    func settle() async {
        guard running > 0 else { return }
        await withCheckedContinuation { quiescence = $0 }
    }

    func index(_ id: Int) -> Int? { exchanges.firstIndex { $0.id == id } }

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
        exchanges.append(Exchange(id: count, owner: device, device: device, request: request))
        return count
    }

    /// Carries a request to the service and returns the response.
    func carried(_ id: Int, _ request: WireRequest) async -> WireResponse {
        guard let node else { return service.handle(request, from: 0) }
        let response = await CurrentExchange.$id.withValue(id) { await node.answer(request.incoming) }
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
    func arrived(_ id: Int, _ response: WireResponse) {
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

    func deliver(_ index: Int) {
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
    func fail(_ index: Int) {
        let waiter = exchanges[index].waiter
        if let device = exchanges[index].device { received[device] &+= 1 }
        (exchanges[index].waiter, exchanges[index].device) = (nil, nil)
        begin()
        waiter?.resume(returning: .failure(TransportError(.disconnected, "Explored.", mayHaveBeenSent: true)))
    }

    func resume(_ index: Int, _ signal: ExchangeSignal) {
        let carrier = exchanges[index].carrier
        exchanges[index].carrier = nil
        exchanges[index].point = .moving
        begin()
        carrier?.resume(returning: signal)
    }

    /// The number of operations that are in doubt at the end.
    var doubts = 0
}

/// The disks and the service at the beginning of all runs of a scenario.
struct ExplorationImage {
    let disks: [SimulatedDisk]
    let service: SimulatedService
}
