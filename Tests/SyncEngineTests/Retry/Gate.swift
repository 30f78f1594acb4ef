import Foundation
import OfflineStore
import Operations
import Synchronization

/// Blocks a store when it reads the time.
final class Gate: Sendable {
    private let state = Mutex((isClosed: false, isWaitedAt: false))

    var environment: SyncEnvironment {
        SyncEnvironment(
            now: {
                self.wait()
                return 1_763_000_000_000
            }, sleep: { _ in }, random: { 1 })
    }

    func close() { state.withLock { $0.isClosed = true } }
    func open() { state.withLock { $0.isClosed = false } }

    func isWaitedAt() async {
        while !state.withLock({ $0.isWaitedAt }) { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Blocks a thread, as a disk would, for at most five seconds.
    private func wait() {
        for _ in 0..<5_000 {
            let isClosed = state.withLock { state in
                if state.isClosed { state.isWaitedAt = true }
                return state.isClosed
            }
            guard isClosed else { return }
            Thread.sleep(forTimeInterval: 0.001)
        }
    }
}
