internal import OfflineStore
internal import Synchronization

/// The time that queries of a store take while other work occupies its executor.
enum QueryLatency {
    /// The times of the queries that were executed one after the other, in milliseconds.
    struct Times {
        let median: Double
        let longest: Double
        let count: Int

        init(_ times: [Double]) {
            let sorted = times.sorted()
            median = sorted.isEmpty ? 0 : sorted[sorted.count / 2]
            longest = sorted.last ?? 0
            count = times.count
        }
    }

    /// Queries the store repeatedly while `body` runs, at least once, and with a pause of a millisecond between two
    /// queries, as a list in an app that is refreshed.
    static func measured(_ store: LocalStore, during body: () async throws -> Void) async throws -> Times {
        let end = End()
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            defer { end.isReached.withLock { $0 = true } }
            group.addTask { try await queried(store) { end.isReached.withLock { $0 } } }
            try await body()
            end.isReached.withLock { $0 = true }
            return Times(try await group.next() ?? [])
        }
    }

    /// The end of the other work.
    private final class End: Sendable {
        let isReached = Mutex(false)
    }

    /// The same for a store without other work.
    static func idle(_ store: LocalStore, count: Int) async throws -> Times {
        var left = count
        return Times(
            try await queried(store) {
                left -= 1
                return left <= 0
            })
    }

    private static func queried(_ store: LocalStore, until isDone: () -> Bool) async throws -> [Double] {
        var times: [Double] = []
        repeat {
            let seconds = try await Stopwatch.seconds {
                _ = try await store.query("Orders?$orderby=OrderID desc&$top=20")
            }
            times.append(seconds * 1e3)
            try await Task.sleep(for: .milliseconds(1))
        } while !isDone()
        return times
    }
}
