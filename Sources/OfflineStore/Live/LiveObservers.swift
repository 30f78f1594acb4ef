import Synchronization

/// The live-query observers of a store.
final class LiveObservers: Sendable {
    private struct WeakObserver: Sendable { weak var observer: LiveObserver? }

    private struct RegistryState {
        var places: [ObjectIdentifier: WeakObserver] = [:]
        var hasEnded = false
    }

    private let state = Mutex(RegistryState())

    var isEmpty: Bool { all().isEmpty }

    /// Adds an observer, which receives each change from now on. It is referenced weakly.
    func add(_ observer: LiveObserver) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.places[ObjectIdentifier(observer)] = WeakObserver(observer: observer) }
            return state.hasEnded
        }
        if hasEnded { observer.end() }
    }

    func notify(_ change: StoreChange) {
        for observer in all() { observer.storeDidChange(change) }
    }

    /// Ends all observers after the store was closed.
    func end() {
        state.withLock { $0.hasEnded = true }
        for observer in all() { observer.end() }
    }

    private func all() -> [LiveObserver] {
        state.withLock { state in
            if state.places.isEmpty { return [] }
            state.places = state.places.filter { $0.value.observer != nil }
            return state.places.values.compactMap(\.observer)
        }
    }
}
