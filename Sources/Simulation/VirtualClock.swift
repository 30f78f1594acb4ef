import Operations
import SyncEngine
import Synchronization

/// The only clock of a run, and the source of the engine's random numbers. Only `advance(milliseconds:)` changes the
/// time; a sleeping task advances it by the duration of its sleep.
final class VirtualClock: Sendable {
    private let time = Mutex<Timestamp>(1_700_000_000_000)
    private let random: Mutex<SeededRandom>

    init(seed: UInt64) { random = Mutex(SeededRandom(seed: ~seed)) }

    var now: Timestamp { time.withLock { $0 } }

    func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }

    var environment: SyncEnvironment {
        SyncEnvironment(
            now: { self.now },
            sleep: { duration throws(CancellationError) in
                let (seconds, attoseconds) = duration.components
                self.advance(milliseconds: seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
            },
            random: { self.random.withLock { $0.next() } })
    }
}
