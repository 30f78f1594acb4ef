import OfflineStore
import Operations
import SeededRandom
import Synchronization

/// A clock that advances only by sleeping: a sleep returns at once and advances the time.
final class VirtualTime: Sendable {
    private struct State {
        var now: Timestamp = 1_763_000_000_000
        var slept: [Duration] = []
        var random: SeededRandom
    }

    private let state: Mutex<State>

    init(seed: UInt64 = 1) { state = Mutex(State(random: SeededRandom(seed: seed))) }

    var environment: SyncEnvironment {
        SyncEnvironment(
            now: { self.state.withLock { $0.now } },
            sleep: { duration throws(CancellationError) in
                self.state.withLock {
                    $0.now +=
                        duration.components.seconds * 1_000
                        + duration.components.attoseconds / 1_000_000_000_000_000
                    $0.slept.append(duration)
                }
            },
            random: { self.state.withLock { $0.random.next() } })
    }

    /// Durations of all sleeps so far.
    var slept: [Duration] { state.withLock { $0.slept } }

    func pass(_ seconds: Int64) { state.withLock { $0.now += seconds * 1_000 } }
}
