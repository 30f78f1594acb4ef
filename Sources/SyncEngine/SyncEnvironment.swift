public import Operations

/// What the engine takes from the world beside files and the network: the time, waiting, and random numbers.
///
/// The engine reads no clock and draws no number in any other way, so whoever gives these decides what it does, as a
/// simulation does with a clock of its own.
public struct SyncEnvironment: Sendable {
    /// The wall clock, in milliseconds since 1970. It may jump, and goes into records as it is.
    public var now: @Sendable () -> Timestamp
    /// Waits. Throws, at once, where the task is cancelled.
    public var sleep: @Sendable (Duration) async throws(CancellationError) -> Void
    /// 64 random bits; for waiting times and identifiers, not for keys.
    public var random: @Sendable () -> UInt64

    public init(
        now: @escaping @Sendable () -> Timestamp = systemClock,
        sleep: @escaping @Sendable (Duration) async throws(CancellationError) -> Void = Self.systemSleep,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
        self.now = now
        self.sleep = sleep
        self.random = random
    }

    /// The machine's.
    public static let system = SyncEnvironment()

    @Sendable public static func systemSleep(_ duration: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw CancellationError()
        }
    }
}
