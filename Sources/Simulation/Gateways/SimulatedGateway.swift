import Gateway
import GatewayCore
import Logging
import ODataSandbox
import ODataWire
import SeededRandom
import Synchronization
import Transport

/// The nodes of a gateway between the devices and the service, and the storages that outlive them.
final class SimulatedGateway {
    static let publicRoot = "http://gateway.test/odata/"
    /// The value of `Authorization` with which the gateway reads feeds.
    static let credentials = "Gateway"
    private static let endpoint = "field"

    private let habits: GatewaySettings
    private let root: String
    private let clock: VirtualClock
    /// Whether the gateway loses its ledger when a process ends.
    private let forgetsLedger: Bool
    private let marksWrites: Bool
    /// Whether the database acknowledges commits that it loses.
    private let losesCommits: Bool
    private let random: Mutex<SeededRandom>
    private var nodes: [(process: GatewayNode, service: GatewayService)] = []
    private var ledger: MemoryLedgerStorage
    private let feeds: MemoryFeedStorage
    /// A fault of the service for the request in progress, which permits a response.
    var fault: Fault?

    /// - Parameter root: The root of the service.
    init(_ habits: GatewaySettings, seed: UInt64, root: String, clock: VirtualClock, plants: Set<SeededBug>) {
        self.habits = habits
        self.root = root
        self.clock = clock
        forgetsLedger = plants.contains(.forgetfulLedger)
        marksWrites = !plants.contains(.unmarkedWrites)
        losesCommits = plants.contains(.lostLedgerCommits)
        random = Mutex(SeededRandom(seed: seed &* 43 &+ 11))
        let now: @Sendable () -> Int64 = { clock.now }
        ledger = MemoryLedgerStorage(now: now)
        let salts = Mutex(SeededRandom(seed: seed &* 47 &+ 13))
        feeds = MemoryFeedStorage(isShared: true, now: now, salt: { salts.withLock { $0.bytes(16) } })
    }

    /// The root of the service for the devices.
    static var deviceRoot: String { publicRoot + endpoint + "/" }

    func chance(_ percent: Int) -> Bool { random.withLock { $0.chance(percent) } }

    func below(_ count: Int) -> Int { random.withLock { $0.below(count) } }

    func start(for simulation: Simulation) {
        nodes = (0..<habits.nodes).map { _ in node(simulation) }
    }

    /// Answers a request of a device.
    func answer(_ request: WireRequest, from device: Int, in run: isolated Simulation) async -> WireResponse {
        let number = below(nodes.count)
        let (process, service) = nodes[number]
        if run.isStormy, chance(run.severity / 2), run.happens(.nodeCrash) {
            process.end(afterCalls: below(14))
        }
        failStorage(process, in: run)
        run.addTrace("d\(device) by node \(number)")
        let response = await CurrentDevice.$number.withValue(device) {
            let response = await service.answer(request.incoming)
            return try? await WireResponse(response)
        }
        for (feature, count) in process.takeCounts() { run.counts.add(count, feature) }
        if process.hasEnded, nodes[number].process === process { replace(number, in: run) }
        guard !process.hasEnded, let response else {
            run.addTrace("node \(number) has ended")
            return WireResponse(status: 502, headers: .empty, body: Array("<html>502</html>".utf8))
        }
        return response
    }

    /// Lets one of the next calls of the node's storage fail.
    private func failStorage(_ process: GatewayNode, in run: isolated Simulation) {
        guard run.isStormy, chance(run.severity / 2) else { return }
        let kind: FaultKind = chance(50) ? .storageRefused : .storageAnswerLost
        guard run.happens(kind) else { return }
        process.failStorage(kind == .storageRefused ? .refused : .answerLost, afterCalls: below(6))
    }

    private func replace(_ number: Int, in run: isolated Simulation) {
        if forgetsLedger {
            ledger = MemoryLedgerStorage(now: { [clock] in clock.now })
            start(for: run)
        } else {
            nodes[number] = node(run)
        }
    }

    /// Ends the faults of the gateway.
    func calm() { for node in nodes { node.process.calm() } }

    private var lossy: (@Sendable () -> MemoryLedgerStorage)? {
        guard losesCommits else { return nil }
        return { [clock] in MemoryLedgerStorage(now: { clock.now }) }
    }

    private func node(_ simulation: Simulation) -> (process: GatewayNode, service: GatewayService) {
        let process = GatewayNode()
        let service = GatewayService(
            configuration, storage: NodeLedger(node: process, durable: ledger, lossy: lossy),
            feedStorage: NodeFeedStorage(node: process, durable: feeds, marksWrites: marksWrites),
            secret: Array(repeating: 7, count: 32), credentials: [Self.endpoint: Self.credentials],
            transports: [Self.endpoint: NodeOrigin(simulation: simulation, node: process)],
            environment: environment(simulation.executor))
        return (process, service)
    }

    private var configuration: GatewayConfiguration {
        guard let publicRoot = ServiceRoot(Self.publicRoot), let root = ServiceRoot(root) else {
            preconditionFailure("The roots of the simulation are not valid.")
        }
        var endpoint = GatewayConfiguration.Endpoint(name: Self.endpoint, root: root)
        endpoint.feeds = habits.feeds.compactMap { query in
            CanonicalQuery(query).map { canonical in
                var feed = FeedSettings(name: query, query: canonical)
                feed.refreshMilliseconds = habits.refreshMilliseconds
                feed.authorization = habits.authorization
                return feed
            }
        }
        var configuration = GatewayConfiguration(
            listen: .unix(path: "/none"), publicRoot: publicRoot, storage: .memory, endpoints: [endpoint])
        configuration.limits.pageRows = habits.pageRows
        return configuration
    }

    private func environment(_ executor: any TaskExecutor) -> GatewayEnvironment {
        let seed = UInt64(below(1 << 30))
        let source = Mutex(SeededRandom(seed: seed))
        var environment = GatewayEnvironment()
        environment.logger = Logger(label: "simulated") { _ in SwiftLogNoOpLogHandler() }
        environment.sleep = { [clock] in clock.advance(milliseconds: $0) }
        environment.isSequential = true
        environment.executor = executor
        environment.uptime = { [clock] in clock.now }
        environment.sleepDuring = { reading, _ in await reading.value }
        environment.randomBytes = { count in source.withLock { $0.bytes(count) } }
        return environment
    }
}
