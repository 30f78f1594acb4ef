import OfflineStore
import Operations
import Synchronization

/// A clock that advances only by sleeping: a sleep returns at once and advances the time.
final class VirtualTime: Sendable {
    private struct State {
        var now: Timestamp = 1_763_000_000_000
        var slept: [Duration] = []
        var random: UInt64
    }

    private let state: Mutex<State>

    init(seed: UInt64 = 1) { state = Mutex(State(random: seed)) }

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
            random: {
                // SplitMix64.
                self.state.withLock {
                    $0.random &+= 0x9E37_79B9_7F4A_7C15
                    var z = $0.random
                    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
                    return z ^ (z >> 31)
                }
            })
    }

    /// Durations of all sleeps so far.
    var slept: [Duration] { state.withLock { $0.slept } }

    func pass(_ seconds: Int64) { state.withLock { $0.now += seconds * 1_000 } }
}
