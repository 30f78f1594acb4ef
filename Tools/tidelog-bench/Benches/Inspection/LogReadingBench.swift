internal import LogInspection
internal import OperationLog
internal import Operations
internal import Synchronization

/// The cost of inspecting a log: reading all of it, finding an entity in it, and following it.
enum LogReadingBench {
    static func measure(_ store: String, _ surroundings: BenchEnvironment) async throws -> [Case] {
        let inspected = InspectedStore(directory: store)
        let verify = try await seconds(surroundings) {
            guard try inspected.history.verify().isSound else { throw Failure("The log is damaged.") }
        }
        guard let reference = EntityReference("Orders(\(InspectedLog.someOrder))"),
            let byKey = EntityReference("Orders(\(InspectedLog.someOrder.rawValue))")
        else { throw Failure("The order has no name.") }
        let blame = try await seconds(surroundings) {
            guard try inspected.provenance(of: reference).lines.count >= 6 else {
                throw Failure("The order does not exist.")
            }
        }
        let history = try await seconds(surroundings) {
            guard try inspected.provenance(of: byKey).changes.count > 10 else {
                throw Failure("The order has no history.")
            }
        }
        return [
            Case("verify, each record decoded", verify * 1e3, .milliseconds, target: .atMost(2_000)),
            Case("blame of one entity, by its number", blame * 1e3, .milliseconds, target: .atMost(50)),
            Case("history of one entity, by its key", history * 1e3, .milliseconds, target: .atMost(100)),
            Case(
                "following, from append to item", try await lag(store, surroundings) * 1e3, .milliseconds,
                target: .atMost(100)),
        ]
    }

    /// Returns the median of the rounds.
    private static func seconds(
        _ surroundings: BenchEnvironment, _ body: () async throws -> Void
    ) async throws -> Double {
        var laps: [Double] = []
        for _ in 0..<surroundings.rounds { laps.append(try await Stopwatch.seconds(body)) }
        return median(laps)
    }

    /// Returns the longest of several times from an append until an idle follower receives the record, like 'tidelog
    /// log --follow'.
    private static func lag(_ store: String, _ surroundings: BenchEnvironment) async throws -> Double {
        let log = try BenchLog.open(store + "/log", durability: .none)
        defer { log.close() }
        let reader = try LogReader(directory: store + "/log")
        let appended = Mutex<ContinuousClock.Instant?>(nil)
        let first = log.nextSequence
        let rounds = surroundings.rounds * 2
        let follower = Task {
            var lags: [Double] = []
            for try await _ in reader.follow(from: first) {
                if let start = appended.withLock({ $0 }) { lags.append(Stopwatch.seconds(since: start)) }
                if lags.count == rounds { break }
            }
            return lags
        }
        for round in 0..<rounds {
            // Long enough for the pauses of the follower to grow.
            try await Task.sleep(for: .milliseconds(400 + 13 * round))
            appended.withLock { $0 = .now }
            try log.append([RecordCodec.encode(Record(time: 0, body: .operationsReleased([])))])
        }
        return try await follower.value.max() ?? .nan
    }
}
