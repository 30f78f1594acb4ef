import Synchronization

/// The state of one reader of a live query: the changes since its last result, and the suspended reader.
///
/// It buffers no results, so a slow reader has no cost: all changes since its last result lead to a single new one.
final class LiveObserver: Sendable {
    private struct ObserverState {
        /// The tables that the last result depends on, or nil for any table.
        var tables: Set<String>?
        var causes: Set<ChangeCause> = []
        /// Whether a new result has to be computed. True at the beginning.
        var isDue = true
        /// Whether the sequence has ended.
        var hasEnded = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(ObserverState())

    /// Records a change of the store.
    func storeDidChange(_ change: StoreChange) {
        wake { state in
            if let tables = state.tables, let changed = change.tables, tables.isDisjoint(with: changed) { return false }
            state.causes.formUnion(change.causes)
            state.isDue = true
            return true
        }
    }

    /// Ends the sequence after the store was closed or the reader's task was cancelled.
    func end() {
        wake { state in
            state.hasEnded = true
            return true
        }
    }

    private func wake(_ change: (inout ObserverState) -> Bool) {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard change(&state) else { return nil }
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Waits until a new result has to be computed. Returns false at the end.
    func isDue() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let shouldContinue = state.withLock { state in
                    // A second concurrent reader is a programming error, but must not suspend for ever.
                    if state.isDue || state.hasEnded || state.waiting != nil { return true }
                    state.waiting = continuation
                    return false
                }
                if shouldContinue { continuation.resume() }
            }
        } onCancel: {
            end()
        }
        return state.withLock { !$0.hasEnded }
    }

    /// Whether ``isDue()`` would return without suspending. For tests.
    var isDueNow: Bool { state.withLock { $0.isDue || $0.hasEnded } }

    /// Begins a new result. Returns the causes of the changes since the last one.
    func begin() -> Set<ChangeCause> {
        state.withLock { state in
            defer { state.causes = [] }
            state.isDue = false
            state.tables = nil
            return state.causes
        }
    }

    /// Records the tables that the new result depends on. Nil or an empty set means any table.
    func answered(from tables: Set<String>?) { state.withLock { $0.tables = tables?.isEmpty == true ? nil : tables } }
}
