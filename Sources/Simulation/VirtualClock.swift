import OfflineStore
import Operations
import SeededRandom
import Synchronization

/// The only clock of a run, and the source of the engine's random numbers. Only `advance(milliseconds:)` changes the
/// time; a sleeping task advances it by the duration of its sleep.
final class VirtualClock: Sendable {
    private let time = Mutex<Timestamp>(1_700_000_000_000)
    /// The difference between the clocks of the devices and the time, in milliseconds.
    private let error = Mutex<Int64>(0)
    private let random: Mutex<SeededRandom>

    init(seed: UInt64) { random = Mutex(SeededRandom(seed: ~seed)) }

    /// The time, as the service and the gateway know it.
    var now: Timestamp { time.withLock { $0 } }

    /// Sets the clocks of the devices forward, or back if the number is negative.
    func jump(milliseconds: Int64) { error.withLock { $0 += milliseconds } }

    /// Sets the clocks of the devices right if they are behind.
    func correct() { error.withLock { $0 = max($0, 0) } }

    func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    var environment: SyncEnvironment {
        SyncEnvironment(
            now: { self.now + self.error.withLock { $0 } },
            sleep: { duration throws(CancellationError) in
                let (seconds, attoseconds) = duration.components
                self.advance(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
            },
            random: { self.random.withLock { $0.next() } })
    }
}
