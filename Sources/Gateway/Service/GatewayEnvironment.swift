package import Logging

/// The time, the randomness and the log that the service uses.
package struct GatewayEnvironment: Sendable {
    package var logger = Logger(label: "tidelog-gateway")
    /// Waits for milliseconds. Returns early if the task is cancelled.
    package var sleep: @Sendable (Int64) async -> Void = { try? await Task.sleep(for: .milliseconds($0)) }
    /// Waits for the end of a reading for at most some milliseconds, which may return earlier than either. By default
    /// it sleeps for that time, because a request must be able to give up. A simulation waits for the reading instead, so
    /// that the order of events does not depend on the scheduler.
    package var sleepDuring: (@Sendable (_ reading: Task<Void, Never>, _ milliseconds: Int64) async -> Void)?
    /// Whether independent calls of storages are made one after the other, so that a simulation is repeatable.
    package var isSequential = false
    /// The executor of the tasks that a request starts. If nil, they run in the shared pool.
    package var executor: (any TaskExecutor)?
    /// Milliseconds of a clock that is never set.
    package var uptime: @Sendable () -> Int64 = { Int64(Self.start.duration(to: .now) / .milliseconds(1)) }
    /// Returns random bytes. They must be unpredictable, except in a simulation.
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8] = { count in
        var system = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &system) }
    }
    /// Whether requests without `traceparent` get one.
    package var makesTraces = false
    /// How long a repetition waits for the end of the first attempt, in milliseconds.
    package var patience: Int64 = 25_000
    /// How long a request waits for a reading of the service, if rows of an earlier one can answer, in milliseconds.
    package var stalePatience: Int64 = 10_000
    /// How long a request waits for a reading of the service that it needs.
    package var feedPatience: Int64 = 15_000
    /// The shortest time between the beginnings of two readings of a feed.
    package var feedPause: Int64 = 1_000

    private static let start = ContinuousClock.now

    package init() {}

    /// Makes two independent calls at the same time, or one after the other.
    func both<First: Sendable, Second: Sendable>(
        _ first: @escaping @Sendable () async -> First, _ second: @escaping @Sendable () async -> Second
    ) async -> (First, Second) {
        if isSequential {
            let value = await first()
            return (value, await second())
        }
        async let value = first()
        let other = await second()
        return (await value, other)
    }

    /// Returns a time for `Retry-After` in seconds, which spreads the repetitions of many clients.
    func retryAfter() -> String { String(2 + Int(randomBytes(1).first ?? 0) % 5) }
}
