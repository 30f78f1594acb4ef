import Synchronization

/// One reader's side of a live query: what has changed since it last asked, and the reader itself while it waits.
///
/// Holds no answers, so that a slow reader costs nothing: whatever has changed meanwhile, it is answered once.
final class LiveObserver: Sendable {
    private struct State {
        /// The tables that the last answer came from; nil where it may be any.
        var tables: Set<String>?
        var causes: Set<ChangeCause> = []
        /// Whether there is something to answer. So at the beginning.
        var isDue = true
        /// Whether nothing more will come.
        var hasEnded = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// The store has changed.
    func note(_ change: StoreChange) {
        wake { state in
            if let tables = state.tables, let changed = change.tables, tables.isDisjoint(with: changed) { return false }
            state.causes.formUnion(change.causes)
            state.isDue = true
            return true
        }
    }

    /// The store was closed, or the reader's task cancelled.
    func end() {
        wake { state in
            state.hasEnded = true
            return true
        }
    }

    private func wake(_ change: (inout State) -> Bool) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard change(&state) else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Waits until there is something to answer. False at the end.
    func isDue() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    // A second reader at the same time is a mistake, but none to hang by.
                    if state.isDue || state.hasEnded || state.waiting != nil { return true }
                    state.waiting = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            end()
        }
        return state.withLock { !$0.hasEnded }
    }

    /// Whether ``isDue()`` would not wait: for tests.
    var isDueNow: Bool { state.withLock { $0.isDue || $0.hasEnded } }

    /// Before the store answers. Returns why it has to.
    func begin() -> Set<ChangeCause> {
        state.withLock { state in
            defer { state.causes = [] }
            state.isDue = false
            state.tables = nil
            return state.causes
        }
    }

    /// The store has answered from these tables; nil, or none, and any change may be one of the answer.
    func answered(from tables: Set<String>?) { state.withLock { $0.tables = tables?.isEmpty == true ? nil : tables } }
}
