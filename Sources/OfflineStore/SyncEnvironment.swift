package import EDM
package import Operations

/// The sources of time, delays and random numbers of the store and the engine.
///
/// They use no other clock or random source, so a simulation that replaces them controls their behaviour completely.
package struct SyncEnvironment: Sendable {
    /// Returns the wall-clock time in milliseconds since 1970. It may jump, and is recorded unchanged.
    package var now: @Sendable () -> Timestamp
    /// Suspends the task. Throws immediately if the task is cancelled.
    package var sleep: @Sendable (Duration) async throws(CancellationError) -> Void
    /// Returns 64 random bits. They are used for backoff and identifiers, not for keys.
    package var random: @Sendable () -> UInt64
    /// The executor of the store, and of the tasks that the engine starts. If nil, each store has a queue of its own,
    /// and the tasks run in the shared pool.
    package var executor: SerialQueueExecutor?
    /// The source of the models of metadata documents. A simulation shares the models of its stores.
    package var models = ModelSource.parser

    package init(
        now: @escaping @Sendable () -> Timestamp = systemClock,
        sleep: @escaping @Sendable (Duration) async throws(CancellationError) -> Void = Self.systemSleep,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The environment of the machine.
    package static let system = SyncEnvironment()

    @Sendable package static func systemSleep(_ duration: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw CancellationError()
        }
    }
}
