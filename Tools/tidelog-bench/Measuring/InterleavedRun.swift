/// A candidate that can repeat the same work, compared with other candidates.
struct BenchCandidate {
    let name: String
    /// The number of units in one lap, for the rate of the result.
    let units: Int
    let lap: () async throws -> Void
    /// Prepares a lap, and is not measured.
    var prepare: () async throws -> Void = {}
}

/// A comparison in which candidates alternate lap by lap, so that other load of the machine affects all of them
/// equally.
enum InterleavedRun {
    /// Returns the median rates in units per second, in the order of the candidates. One lap of each is not counted.
    static func run(laps: Int, _ contenders: [BenchCandidate]) async throws -> [Double] {
        var rates = [[Double]](repeating: [], count: contenders.count)
        for lap in 0...laps {
            for place in contenders.indices {
                // In a different order in each lap.
                let index = (place + lap) % contenders.count
                try await contenders[index].prepare()
                let seconds = try await Stopwatch.seconds { try await contenders[index].lap() }
                if lap > 0 { rates[index].append(Double(contenders[index].units) / seconds) }
            }
        }
        return rates.map(median)
    }
}

enum Stopwatch {
    static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        return seconds(since: start)
    }

    static func seconds(since start: ContinuousClock.Instant) -> Double {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
