internal import LogInspection
internal import OperationLog

/// What it takes to look into a log: reading all of it, and finding one entity in it.
enum LookingBench {
    static func measure(_ store: String, _ surroundings: Surroundings) async throws -> [Case] {
        let inspected = InspectedStore(directory: store)
        let verify = try await seconds(surroundings) {
            guard try inspected.history.verify().isSound else { throw Failure("The log is damaged.") }
        }
        return [Case("verify, each record decoded", verify * 1e3, .milliseconds, target: .atMost(2_000))]
    }

    /// The median of the rounds.
    private static func seconds(
        _ surroundings: Surroundings, _ body: () async throws -> Void
    ) async throws -> Double {
        var laps: [Double] = []
        for _ in 0..<surroundings.rounds { laps.append(try await Stopwatch.seconds(body)) }
        return median(laps)
    }
}
