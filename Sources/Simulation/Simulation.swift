package import DiskSimulation
import EDM
import ODataSandbox
import ODataWire
import OfflineStore
package import OperationLog
import Operations
import SeededRandom
import SyncEngine
import Transport

/// One run: devices and their service with random operations and random faults, all derived from one seed.
///
/// Only one call is awaited at a time, so the order of events depends only on the random numbers. Events during a
/// request run inside ``deliver(_:from:)``.
package actor Simulation {
    package struct Options: Sendable {
        /// The number of steps during which faults are injected; if nil, the seed determines it.
        package var steps: Int?
        package var troubles: Set<FaultKind>
        package var plants: Set<SeededBug> = []
        /// Whether an operation may remain because a key is unknown only if the user settled the doubt about the
        /// creation of its entity.
        package var isStrict = false
        /// Whether the outcome contains the lines of the trace.
        package var keepsLines: Bool
        /// Whether the views are files; nil leaves it to the seed.
        package var viewsAreFiles: Bool?
        /// How many changed items of the state are kept in memory; nil leaves it to the seed.
        package var flushLimit: Int?
        /// The largest number of devices; if nil, the seed determines their number.
        package var devices: Int?
        /// Whether a gateway is between the devices and the service; nil leaves it to the seed.
        package var hasGateway: Bool?
        /// Whether the metadata of the service change; nil leaves it to the seed.
        package var changesMetadata: Bool?
        /// Whether each step has more faults, so that a long run has hundreds of them; if nil, runs of at least 64 steps
        /// have them.
        package var isLong: Bool?
        /// Whether the apps only append to shared entities, and the outcome contains the history of the run.
        package var recordsHistory = false
        /// The parsed metadata, which the runs with these options share.
        let metadata = ParsedMetadata()

        package init(steps: Int? = nil, troubles: Set<FaultKind> = Set(FaultKind.allCases), keepsLines: Bool = false) {
            self.steps = steps
            self.troubles = troubles
            self.keepsLines = keepsLines
        }
    }

    /// The executor of the run, its stores and engines. With one queue, no step changes the thread.
    let executor = SerialQueueExecutor(label: "tidelog.simulation", isTaskExecutor: true)
    let seed: UInt64
    let options: Options
    let clock: VirtualClock
    var random: SeededRandom
    var trace: Trace
    var service: SimulatedService
    var devices: [Device] = []
    var counts = Counts()
    var violations: [String] = []
    /// Requests that the network delays, each with the device that has abandoned it.
    var late: [(request: WireRequest, device: Int)] = []
    /// The initial values of `Note` and `Remark`, by `mark property`.
    let initialValues: [String: String]
    /// The effects of requests that no device could revoke.
    var orphaned = OrphanedRequests()
    /// Whether faults are injected at the moment.
    var isStormy = false
    /// Whether other events are running during a request.
    var isInFlight = false
    /// How often other events ran during a request.
    var interruptions = 0

    /// The keys of the devices' stores; none if they are not encrypted.
    package nonisolated var keys: [LogKey] { habits.keys }

    /// The disks of the devices, by number. Empty until the run is over.
    package private(set) var disks: [SimulatedDisk] = []

    // The parameters of the run that the seed determines.
    let version: ODataVersion
    let deviceCount: Int
    let steps: Int
    /// The percentage of requests with faults.
    let severity: Int
    /// Whether each step has more faults.
    let isLong: Bool
    /// The number of steps from which a run has more faults in each step.
    static let longLife = 64
    let serviceOptions: ServiceOptions
    let snapshots: SnapshotPolicy
    let habits: WorkloadMix
    let viewsHabits: ViewsSettings
    let gatewayHabits: GatewaySettings
    let metadataHabits: MetadataSchedule
    /// Not the random numbers of the run, so that the rest of the run does not depend on the metadata.
    var metadataRandom: SeededRandom
    var metadataChanges = 0
    var linkedCreations: LinkedCreations
    private(set) var gateway: SimulatedGateway?
    /// The login state; nil if the service does not require authentication.
    var login: TokenIssuer?
    /// The history of the run; nil if it is not recorded.
    var recorder: HistoryRecorder?

    package init(seed: UInt64, options: Options = Options()) {
        self.seed = seed
        self.options = HistoryApp.adjusted(options)
        clock = VirtualClock(seed: seed)
        var random = SeededRandom(seed: seed)
        version = random.chance(50) ? .v4 : .v2
        let devices = max(options.recordsHistory ? 2 : 1, [1, 2, 2, 3][random.below(4)])
        deviceCount = min(devices, options.devices ?? devices)
        let drawn = [3, 6, 8, 16][random.below(4)]
        let steps = options.steps ?? drawn
        self.steps = steps
        isLong = options.isLong ?? (steps >= Self.longLife)
        severity = (isLong ? [20, 30, 40, 40] : [0, 8, 20, 40])[random.below(4)]
        var capabilities = ServiceOptions()
        if random.chance(30) { capabilities.batchFormat = .json }
        if random.chance(15) { capabilities.supportsBatch = false }
        if random.chance(10) { capabilities.supportsPatch = false }
        let dialect = [nil, nil, Repeatability.Dialect.oasis, .sap][random.below(4)]
        if let dialect { capabilities.repeatability = dialect == .oasis ? .oasis : .sap }
        if dialect == nil, random.chance(40) {
            for set in FieldService.sets { capabilities.correlationProperties[set] = "Mark" }
        }
        capabilities.doubts = [.evidence, .evidence, .evidence, .correlation, .ask][random.below(5)]
        capabilities.respondsAsync = random.chance(20)
        gatewayHabits = .of(seed, self.options)
        serviceOptions = gatewayHabits.adjusted(capabilities, version)
        snapshots = random.chance(40) ? .automatic(growth: 8_192) : .manual
        var sandbox = FieldService.seeded
        if random.chance(30) { sandbox.options.pageSize = 2 }
        if random.chance(20) { sandbox.options.answersUpdates = true }
        if random.chance(50) { sandbox.options.deltas = Deltas(limit: [1, 4, 100][random.below(3)]) }
        sandbox.options.capabilities.batch = capabilities.supportsBatch
        sandbox.options.repeatability = dialect.map { Repeatability($0) }
        if capabilities.respondsAsync {
            sandbox.options.asynchrony = Asynchrony(
                polls: random.below(3), retryAfter: random.chance(50) ? 5 : nil, startsAtOnce: random.chance(50))
        }
        habits = options.recordsHistory ? .history(&random) : WorkloadMix(&random)
        viewsHabits = ViewsSettings(seed: seed, areFiles: options.viewsAreFiles, flushLimit: options.flushLimit)
        metadataRandom = SeededRandom(seed: seed &* 59 &+ 19)
        // A history and a seeded bug are judged without changed metadata and linked creations.
        let isPlain = options.recordsHistory || !options.plants.isEmpty
        linkedCreations = LinkedCreations(seed: seed, isUsed: !isPlain)
        let areChanging = isPlain ? false : options.changesMetadata
        metadataHabits = MetadataSchedule(&metadataRandom, areChanging: areChanging)
        if random.chance(40) { login = TokenIssuer(lifetime: [2_000, 60_000, 3_600_000][random.below(3)]) }
        gatewayHabits.adjust(&sandbox, version)
        let service = SimulatedService(sandbox)
        initialValues = service.ledger.values
        self.service = service
        self.random = random
        if options.recordsHistory { recorder = HistoryRecorder(seed, deviceCount, "\(version)", service.ledger) }
        trace = Trace(keepsLines: options.keepsLines)
    }

    /// The root of the service for the devices.
    var root: String { gateway == nil ? originRoot : SimulatedGateway.deviceRoot }

    private var originRoot: String { FieldService.origin + (version.isLegacy ? "/v2/" : "/v4/") }

    /// The durability of the logs.
    var durability: OperationLog.Options.Durability {
        options.plants.contains(.unsyncedCommits) ? .none : habits.durability
    }

    // MARK: The run

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    package func run() async -> Outcome {
        await withTaskExecutorPreference(executor) { await perform() }
    }

    private func perform() async -> Outcome {
        addTrace("seed \(seed): \(version), \(deviceCount) devices, \(steps) steps, severity \(severity)")
        addTrace(habits.line)
        addTrace(viewsHabits.line)
        if gatewayHabits.nodes > 0 {
            addTrace(gatewayHabits.line)
            counts.add(1, .gatewayRuns)
            gateway = SimulatedGateway(
                gatewayHabits, seed: seed, root: originRoot, clock: clock, plants: options.plants)
            gateway?.start(for: self)
        }
        for number in 0..<deviceCount { await DeviceSetup(number: number).install(in: self) }
        if violations.isEmpty {
            isStormy = true
            for number in 0..<steps where violations.isEmpty { await step(number) }
            isStormy = false
            if violations.isEmpty { await RunRecovery().drain(in: self) }
            if violations.isEmpty { await HistoryApp.end(self) }
            if violations.isEmpty { await RunVerification().verify(in: self) }
        }
        if options.keepsLines, !violations.isEmpty { for device in devices { recordLog(of: device) } }
        for device in devices { await device.store.close() }
        // The salts of encrypted segments are random.
        for device in devices where device.keys.isEmpty {
            for path in device.disk.paths { trace.add(device.disk[path]) }
        }
        if habits.isEncrypted { counts.add(1, .encryptedRuns) }
        switch habits.durability {
        case .everyCommit: break
        case .grouped: counts.add(1, .groupedRuns)
        case .interval, .none: counts.add(1, .unsyncedRuns)
        }
        disks = devices.map(\.disk)
        devices = []
        gateway = nil
        return Outcome(
            seed: seed, hash: trace.hash, violations: violations, lines: trace.lines,
            history: recorder?.lines ?? [], steps: steps, counts: counts)
    }

    private func step(_ number: Int) async {
        clock.advance(milliseconds: Int64(1 + random.below(60)) * 1_000)
        if random.chance(3), happens(.clockJump) { jump() }
        for device in devices { device.views?.passTime() }
        if random.chance(50) { await RequestDelivery.deliverLate(in: self) }
        await changeMetadata()
        let device = devices[random.below(devices.count)]
        if recorder != nil { return await HistoryApp(device: device).step(in: self) }
        let (user, process) = (DeviceUser(device: device), DeviceProcess(device: device))
        switch random.below(100) {
        case 0..<46: for _ in 0...random.below(3) { await user.edit(in: self) }
        case 46..<67: await DeviceSync(device: device).upload(in: self)
        case 67..<79: await DeviceSync(device: device).download(in: self)
        case 79..<83: changeNetwork(of: device)
        case 83..<86: await process.crash(in: self)
        case 86..<90: stopDisk(of: device)
        case 90..<92: await user.undo(in: self)
        case 92..<95: await user.arrange(in: self)
        case 95..<97: await process.maintain(in: self)
        case 97..<98: await process.openAgain(in: self)
        default: await process.reopen(in: self)
        }
        if isLong, random.chance(60) { await disturb(devices[random.below(devices.count)]) }
        if random.chance(habits.recompression) { await process.recompress(in: self) }
        await restartCrashed()
    }

    /// Injects one of the faults of a device that a step of a long run has in addition to its work.
    private func disturb(_ device: Device) async {
        let process = DeviceProcess(device: device)
        switch random.below(8) {
        case 0..<3: stopDisk(of: device)
        case 3..<5: await process.crash(in: self)
        case 5: await process.openAgain(in: self)
        case 6: changeNetwork(of: device)
        default: if happens(.clockJump) { jump() }
        }
    }

    /// Sets the clocks of the devices back or forward, by at most an hour.
    private func jump() {
        let milliseconds = Int64(random.below(7_200_000)) - 3_600_000
        clock.jump(milliseconds: milliseconds)
        addTrace("the clock is set by \(milliseconds / 1_000) seconds")
    }

    /// Adds the records of the device's log to the trace, for the analysis of a violation.
    private func recordLog(of device: Device) {
        for (sequence, record) in (try? device.allRecords()) ?? [] {
            if case .serviceInstalled = record.body { continue }
            addTrace("d\(device.number) log \(sequence): \(record.body)")
        }
    }

    func restartCrashed() async {
        for device in devices where device.hasCrashed { await DeviceProcess(device: device).restart(in: self) }
    }

    // MARK: The network

    /// Delivers a request of a device, possibly with faults.
    func deliver(_ request: WireRequest, from number: Int) async throws(TransportError) -> WireResponse {
        try await RequestDelivery(request: request, number: number).deliver(in: self)
    }

    /// Delivers a request of the gateway to the service, possibly with faults.
    func forward(_ request: WireRequest, from number: Int?) async -> Result<WireResponse, TransportError> {
        await RequestDelivery(request: request, number: number ?? -1).forward(in: self)
    }

    /// Returns the authentication hook of the device's app.
    nonisolated func hook(_ number: Int) -> AuthenticationHook {
        { _ in await self.logIn(number) }
    }

    private func logIn(_ number: Int) -> Credentials? {
        let token = login?.token(for: number, now: clock.now)
        addTrace("d\(number) \(token.map { "logs in: \($0)" } ?? "does not log in")")
        return token.map { .bearer($0) }
    }

    func changeNetwork(of device: Device) {
        if device.isOnline, !happens(.partition) { return }
        device.isOnline.toggle()
        addTrace("d\(device.number) is \(device.isOnline ? "online" : "offline")")
    }

    // MARK: Trace and violations

    func addTrace(_ line: @autoclosure () -> String) { trace.add(line()) }

    func violated(_ what: String) {
        addTrace("VIOLATION: \(what)")
        violations.append(what)
    }

    /// Lets the disk of the device stop or fail at one of its next calls. The fault is counted when that happens.
    func stopDisk(of device: Device) {
        if permits(.diskStop) { device.planStop(after: random.below(40), mayFail: permits(.diskError)) }
    }

    /// Returns whether the fault can be injected now according to the options.
    func permits(_ trouble: FaultKind) -> Bool { isStormy && options.troubles.contains(trouble) }

    /// Returns whether the fault can be injected now according to the options, and counts it in that case.
    func happens(_ trouble: FaultKind) -> Bool {
        guard permits(trouble) else { return false }
        counts.add(trouble)
        return true
    }
}

/// Statistics of one or more runs.
package struct Counts: Sendable {
    package var troubles: [FaultKind: Int] = [:]
    package var operations = 0
    package var refusedLocally = 0
    package var requests = 0
    package var batches = 0
    package var confirmed = 0
    package var rejected = 0
    package var restarts = 0
    package var visibleDoubts = 0
    /// How often a store found files of views, and how often it made them again.
    package var viewsOpened = 0
    package var viewsRemade = 0
    package var features: [AppFeature: Int] = [:]

    package init() {}

    mutating func add(_ fault: FaultKind) { troubles[fault, default: 0] += 1 }

    mutating func add(_ number: Int, _ feature: AppFeature) { features[feature, default: 0] += number }

    mutating func add(_ request: WireRequest, _ response: WireResponse, replaces: Bool) {
        if Array(request.url.utf8).contains(text: "deltatoken=") {
            add(1, response.status == 410 ? .expiredDeltas : .deltas)
        }
        guard replaces, request.method != "GET" else { return }
        let text = String(decoding: request.body, as: UTF8.self)
        if request.method == "PUT" || text.contains("\nPUT ") || text.contains("\"PUT\"") { add(1, .putRequests) }
    }

    mutating func add(_ report: AppReport) {
        features.merge(report.counts, uniquingKeysWith: +)
        operations += report.operations
        refusedLocally += report.refused
    }

    package static func += (a: inout Counts, b: Counts) {
        a.troubles.merge(b.troubles, uniquingKeysWith: +)
        a.operations += b.operations
        a.refusedLocally += b.refusedLocally
        a.requests += b.requests
        a.batches += b.batches
        a.confirmed += b.confirmed
        a.rejected += b.rejected
        a.restarts += b.restarts
        a.visibleDoubts += b.visibleDoubts
        a.viewsOpened += b.viewsOpened
        a.viewsRemade += b.viewsRemade
        a.features.merge(b.features, uniquingKeysWith: +)
    }
}

/// The result of a run.
package struct Outcome: Sendable {
    package let seed: UInt64
    /// A hash of all events and of every byte on the disks.
    package let hash: UInt32
    /// Sentences that describe the violations. Empty if the run succeeded.
    package let violations: [String]
    package let lines: [String]
    /// The lines of the history, if it was recorded.
    package let history: [String]
    package let steps: Int
    package let counts: Counts
}
