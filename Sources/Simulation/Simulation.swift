package import DiskSimulation
import EDM
import ODataSandbox
import ODataWire
import OperationLog
import Operations
import SyncEngine
import Transport

/// One run: devices and their service, random work and random trouble, all of it from one number.
///
/// One thing is awaited at a time, so that the order of everything is that of the random numbers. What happens while a
/// request is under way happens inside of ``deliver(_:from:)``.
package actor Simulation {
    package struct Options: Sendable {
        /// How many steps there are before the trouble stops; nil leaves it to the seed.
        package var steps: Int?
        package var troubles: Set<Trouble>
        package var plants: Set<Plant> = []
        /// Whether a reason for what is left, and a second effect, do not count where the engine could have known better.
        package var isStrict = false
        /// Whether the outcome has the trace line by line.
        package var keepsLines: Bool
        /// Whether the views are files; nil leaves it to the seed.
        package var viewsAreFiles: Bool?
        /// How many changed items of the state are kept in memory; nil leaves it to the seed.
        package var flushLimit: Int?

        package init(steps: Int? = nil, troubles: Set<Trouble> = Set(Trouble.allCases), keepsLines: Bool = false) {
            self.steps = steps
            self.troubles = troubles
            self.keepsLines = keepsLines
        }
    }

    let seed: UInt64
    let options: Options
    let clock: VirtualClock
    var random: SeededRandom
    var trace: Trace
    var service: SimulatedService
    var devices: [Device] = []
    var counts = Counts()
    var violations: [String] = []
    /// Requests that the network keeps back, with the device that has given them up.
    var late: [(request: WireRequest, device: Int)] = []
    /// What `Note` and `Remark` were before anybody came, by `mark property`.
    let initialValues: [String: String]
    /// What came of requests that nobody could take back.
    var stray = Stray()
    /// Whether anything goes wrong at the moment.
    var isStormy = false
    /// Whether something runs inside of a request.
    var isInFlight = false

    /// What the devices left, by number; empty before the run is over.
    package private(set) var disks: [SimulatedDisk] = []

    // What the seed says of the run.
    let version: ODataVersion
    let deviceCount: Int
    let steps: Int
    /// Of a hundred requests, so many meet with trouble.
    let severity: Int
    let serviceOptions: ServiceOptions
    let snapshots: SnapshotPolicy
    let habits: Habits
    let viewsHabits: ViewsHabits
    /// Nil where the service lets everybody in.
    var login: Login?

    package init(seed: UInt64, options: Options = Options()) {
        self.seed = seed
        self.options = options
        clock = VirtualClock(seed: seed)
        var random = SeededRandom(seed: seed)
        version = random.chance(50) ? .v4 : .v2
        deviceCount = [1, 2, 2, 3][random.below(4)]
        let drawn = [3, 6, 8, 16][random.below(4)]
        steps = options.steps ?? drawn
        severity = [0, 8, 20, 40][random.below(4)]
        var abilities = ServiceOptions()
        if random.chance(30) { abilities.batchFormat = .json }
        if random.chance(15) { abilities.supportsBatch = false }
        let dialect = [nil, nil, Repeatability.Dialect.oasis, .sap][random.below(4)]
        if let dialect { abilities.repeatability = dialect == .oasis ? .oasis : .sap }
        if dialect == nil, random.chance(40) {
            for set in FieldService.sets { abilities.correlationProperties[set] = "Mark" }
        }
        abilities.doubts = [.evidence, .evidence, .evidence, .correlation, .ask][random.below(5)]
        abilities.respondsAsync = random.chance(20)
        serviceOptions = abilities
        snapshots = random.chance(40) ? .automatic(growth: 8_192) : .manual
        var sandbox = FieldService.seeded
        if random.chance(30) { sandbox.options.pageSize = 2 }
        if random.chance(20) { sandbox.options.answersUpdates = true }
        sandbox.options.abilities.batch = abilities.supportsBatch
        sandbox.options.repeatability = dialect.map { Repeatability($0) }
        if abilities.respondsAsync {
            sandbox.options.asynchrony = Asynchrony(
                polls: random.below(3), retryAfter: random.chance(50) ? 5 : nil, startsAtOnce: random.chance(50))
        }
        habits = Habits(&random)
        viewsHabits = ViewsHabits(seed: seed, areFiles: options.viewsAreFiles, flushLimit: options.flushLimit)
        if random.chance(40) { login = Login(lifetime: [2_000, 60_000, 3_600_000][random.below(3)]) }
        let service = SimulatedService(sandbox)
        initialValues = service.ledger.values
        self.service = service
        self.random = random
        trace = Trace(keepsLines: options.keepsLines)
    }

    var root: String { FieldService.origin + (version.isLegacy ? "/v2/" : "/v4/") }

    // MARK: The run

    package func run() async -> Outcome {
        note("seed \(seed): \(version), \(deviceCount) devices, \(steps) steps, severity \(severity)")
        note(habits.line)
        note(viewsHabits.line)
        for number in 0..<deviceCount { await install(number) }
        if violations.isEmpty {
            isStormy = true
            for number in 0..<steps where violations.isEmpty { await step(number) }
            isStormy = false
            if violations.isEmpty { await drain() }
            if violations.isEmpty { await verify() }
        }
        if options.keepsLines, !violations.isEmpty { for device in devices { noteLog(of: device) } }
        for device in devices { await device.store.close() }
        for device in devices { for path in device.disk.paths { trace.add(device.disk[path]) } }
        disks = devices.map(\.disk)
        devices = []
        return Outcome(
            seed: seed, hash: trace.hash, violations: violations, lines: trace.lines, steps: steps, counts: counts)
    }

    private func step(_ number: Int) async {
        clock.advance(milliseconds: Int64(1 + random.below(60)) * 1_000)
        for device in devices { device.views?.passTime() }
        if random.chance(50) { deliverLate() }
        let device = devices[random.below(devices.count)]
        switch random.below(100) {
        case 0..<46: for _ in 0...random.below(3) { await edit(device) }
        case 46..<67: await upload(device)
        case 67..<79: await download(device)
        case 79..<83: changeNetwork(of: device)
        case 83..<86: await crash(device)
        case 86..<90:
            if happens(.diskStop) { device.disk.fail(atCall: device.disk.calls + random.below(40), .crash) }
        case 90..<92: await undo(device)
        case 92..<97: await arrange(device)
        case 97..<98: await compact(device)
        default: await reopen(device)
        }
        await restartCrashed()
    }

    /// For who looks for the reason of a violation.
    private func noteLog(of device: Device) {
        for (sequence, record) in (try? device.allRecords()) ?? [] {
            if case .serviceInstalled = record.body { continue }
            note("d\(device.number) log \(sequence): \(record.body)")
        }
    }

    func restartCrashed() async {
        for device in devices where device.hasCrashed { await restart(device) }
    }

    // MARK: Words for the rest

    func note(_ line: @autoclosure () -> String) { trace.add(line()) }

    func violated(_ what: String) {
        note("VIOLATION: \(what)")
        violations.append(what)
    }

    /// Whether this trouble comes now, of those that the options allow; counts it.
    func happens(_ trouble: Trouble) -> Bool {
        guard isStormy, options.troubles.contains(trouble) else { return false }
        counts.troubles[trouble, default: 0] += 1
        return true
    }
}

/// How much was done.
package struct Counts: Sendable {
    package var troubles: [Trouble: Int] = [:]
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

    package init() {}

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
    }
}

/// What came of a run.
package struct Outcome: Sendable {
    package let seed: UInt64
    /// Over everything that happened and every byte on the disks.
    package let hash: UInt32
    /// Sentences; empty when all was well.
    package let violations: [String]
    package let lines: [String]
    package let steps: Int
    package let counts: Counts
}
