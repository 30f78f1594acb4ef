import Operations
import Synchronization

/// The only time that there is in a run. It stands still until somebody moves it.
final class VirtualClock: Sendable {
    private let time = Mutex<Timestamp>(1_700_000_000_000)

    var now: Timestamp { time.withLock { $0 } }

    func advance(milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}
