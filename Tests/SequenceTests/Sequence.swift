import ODataSandbox
import ODataWire
import Operations
import SeededRandom
import Synchronization

/// A random sequence over a part of the Shop: operations of an app, uploads, downloads, and invariants between them.
struct Sequence {
    /// The two entity sets of each relationship. The last area has keys that the client assigns.
    static let areas = [
        ["Customers", "Orders"], ["Owners", "Cars"], ["Cities", "Mayors"], ["Fathers", "Children"],
        ["Persons", "IDCards"], ["Suppliers", "Products"], ["Visits", "Prices"],
    ]

    let seed: UInt64
    let sets: [String]
    /// Whether another client changes the service meanwhile.
    let isShared: Bool
    private let count: Int
    /// The step that is followed by an upload and a download, in addition to the ones at the end.
    private let middle: Int?
    private let random: SeededRandom

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        let areas = (0..<(random.chance(15) ? 2 : 1)).map { _ in random.number(0...Self.areas.count - 1) }
        sets = Set(areas).sorted().flatMap { Self.areas[$0] }
        count = random.number(2...6)
        middle = random.chance(25) ? random.number(1...count) : nil
        isShared = random.chance(15)
        self.random = random
    }

    /// The events of a run, in the same words for both versions of OData if the events are the same.
    struct Trace {
        /// The result of each step, and the graph before each upload.
        var lines: [String] = []
        var violations: [String] = []
        var accepted = 0
        var refused = 0
        var batches = 0
    }

    enum Step {
        /// Several actions form a change set.
        case perform([Operation.Action])
        /// A request of another client.
        case other(WireRequest)
        case synchronize
    }

    func run(_ dialect: Dialect) throws -> (trace: Trace, steps: [Step]) {
        var run = Run(self, try Self.start(dialect, sets))
        var generator = SequenceGenerator(random: random, sets: sets)
        var steps: [Step] = []
        func take(_ step: Step) throws {
            steps.append(step)
            try run.take(step)
        }
        for number in 1...count {
            let actions = try generator.actions(run.session)
            if !actions.isEmpty { try take(.perform(actions)) }
            if isShared, let request = try generator.request(run.session) { try take(.other(request)) }
            if number == middle || number == count { try take(.synchronize) }
        }
        try run.finish()
        return (run.trace, steps)
    }

    /// Runs the steps, all or a part of those of an earlier run.
    func repeated(_ steps: [Step], _ dialect: Dialect) throws -> Trace {
        var run = Run(self, try Self.start(dialect, sets))
        for step in steps { try run.take(step) }
        try run.finish()
        return run.trace
    }

    static func difference(_ a: String, _ left: [String], _ b: String, _ right: [String]) -> [String] {
        Set(left).subtracting(right).sorted().map { "only \(a): \($0)" }
            + Set(right).subtracting(left).sorted().map { "only \(b): \($0)" }
    }

    // MARK: Starts

    private struct Start: Hashable {
        let dialect: Dialect
        let sets: [String]
    }

    /// One session for each part of the Shop, after its download. The sessions are only copied, never changed.
    private struct Starts: @unchecked Sendable {
        var sessions: [Start: PureSession] = [:]
    }

    private static let starts = Mutex(Starts())

    /// Returns a separate store with these sets downloaded.
    static func start(_ dialect: Dialect, _ sets: [String]) throws -> PureSession {
        try starts.withLock { starts in
            let start = Start(dialect: dialect, sets: sets)
            if let known = starts.sessions[start] { return known.copy() }
            var session = try PureSession(dialect, sandbox: try Sandbox.shop())
            try session.define(sets)
            try session.pull()
            starts.sessions[start] = session
            return session.copy()
        }
    }
}
