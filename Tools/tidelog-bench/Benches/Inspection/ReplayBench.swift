internal import LogInspection
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore

/// The cost of folding a log again, and of restoring the state as of an earlier record.
enum ReplayBench {
    static func measure(_ store: String, _ surroundings: BenchEnvironment) async throws -> [Case] {
        let inspected = InspectedStore(directory: store)
        let last = try inspected.sequence(at: .sequence(.max))
        let replay = try await seconds(surroundings) {
            let replay = try Replay(inspected, origin: .beginning)
            try replay.advance(through: last)
            guard replay.sequence == last else { throw Failure("The replay did not reach the end.") }
        }
        let hashed = try await seconds(surroundings) {
            let replay = try Replay(inspected, origin: .beginning, keepsDigests: true, buildsBatches: false)
            while try replay.next() != nil {}
            guard replay.sequence == last else { throw Failure("The replay did not reach the end.") }
        }
        let operations = Double(surroundings.operations ?? InspectionBench.operations)
        return [
            Case("replay of all", operations / replay, .operationsPerSecond, target: .atLeast(300_000)),
            Case("replay with the hash after each record", operations / hashed, .operationsPerSecond),
        ] + (try await states(inspected, store, surroundings)) + [
            Case(
                "bisect of all", try await bisect(inspected, operations: Int(operations), surroundings) * 1e3,
                .milliseconds, target: .atMost(3_000))
        ]
    }

    /// Measures a bisect for the first order that was created after a third of the history, where the snapshots are
    /// farthest apart.
    private static func bisect(
        _ inspected: InspectedStore, operations: Int, _ surroundings: BenchEnvironment
    ) async throws -> Double {
        let order = InspectedLog.customers + InspectedLog.orders + operations / 150
        return try await seconds(surroundings) {
            let report = try await inspected.bisect(
                good: .sequence(1), bad: .sequence(.max), when: StateCondition("Orders?$filter=OrderID eq \(order)"))
            guard case .found = report.outcome else { throw Failure("The order was not found: \(report.outcome)") }
        }
    }

    /// Measures the store as of a record close to a snapshot, and as of the record that is farthest from one.
    private static func states(
        _ inspected: InspectedStore, _ store: String, _ surroundings: BenchEnvironment
    ) async throws -> [Case] {
        let last = try inspected.sequence(at: .sequence(.max))
        let snapshots = try LogReader(directory: store + "/log").snapshots().map(\.sequence)
        guard let newest = snapshots.last else { throw Failure("There is no snapshot.") }
        let gaps = zip([1] + snapshots, snapshots + [last + 1]).map { ($0, $1) }
        guard let widest = gaps.max(by: { $0.1 - $0.0 < $1.1 - $1.0 }) else { throw Failure("There is no gap.") }
        let close = try await seconds(surroundings) {
            guard try await inspected.past(at: .sequence(newest + 1_000)).sequence == newest + 1_000 else {
                throw Failure("The replay is at another place.")
            }
        }
        let far = try await seconds(surroundings) {
            guard try await inspected.past(at: .sequence(widest.1 - 2)).sequence == widest.1 - 2 else {
                throw Failure("The replay is at another place.")
            }
        }
        let inMemory = try await seconds(surroundings) { _ = try Replay(inspected, from: newest + 1_000) }
        return [
            Case("state 1,000 records after a snapshot", close * 1e3, .milliseconds, target: .atMost(150)),
            Case("the same without queries, in memory", inMemory * 1e3, .milliseconds),
            Case("state \(widest.1 - widest.0 - 2) records after a snapshot", far * 1e3, .milliseconds),
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
}
