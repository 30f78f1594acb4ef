import Operations
import Synchronization

/// Sends the events of an engine to its observers, in order.
final class SyncActivity: Sendable {
    typealias Observer = @Sendable (SyncEvent) -> Void

    private struct ActivityState {
        /// In the order in which they were added.
        var observers: [(number: Int, observer: Observer)] = []
        var next = 0
    }

    private let state = Mutex(ActivityState())

    /// Adds an observer.
    ///
    /// - Parameter observer: A function that must neither block nor call the engine.
    /// - Returns: The number to pass to ``remove(_:)``.
    func add(_ observer: @escaping Observer) -> Int {
        state.withLock {
            $0.next += 1
            $0.observers.append(($0.next, observer))
            return $0.next
        }
    }

    func remove(_ observer: Int) { state.withLock { $0.observers.removeAll { $0.number == observer } } }

    func notify(_ event: SyncEvent) {
        for (_, observer) in observers { observer(event) }
    }

    /// Sends an event for each record of a transaction.
    func notify(_ records: [Record], from first: SequenceNumber) {
        if observers.isEmpty { return }
        // The observers of each record are looked up anew, because one of them may add or remove observers. By index,
        // because an iterator copies each record.
        for place in records.indices { notify(.recorded(first + UInt64(place), records[place])) }
    }

    private var observers: [(number: Int, observer: Observer)] { state.withLock { $0.observers } }

    /// Returns the progress from now on. A slow reader misses some updates, but never the last.
    func progress() -> AsyncStream<SyncProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncProgress.self, bufferingPolicy: .bufferingNewest(256))
        let progress = Mutex(SyncProgress())
        let observer = add { event in
            let (now, hasChanged) = progress.withLock { progress in
                let before = progress
                progress.apply(event)
                return (progress, progress != before)
            }
            if hasChanged { continuation.yield(now) }
        }
        continuation.onTermination = { [weak self] _ in self?.remove(observer) }
        return stream
    }
}
