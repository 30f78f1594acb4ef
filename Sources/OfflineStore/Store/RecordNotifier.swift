import Operations
import Synchronization

/// Notifies a listener of each record after it is appended to the log.
final class RecordNotifier: Sendable {
    /// A struct around the closure. If the mutex held the closure itself, each access would add a thunk, until a call
    /// overflows the stack (Swift 6.3).
    private struct Listener: Sendable {
        let notify: @Sendable (SequenceNumber, Record) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    func attach(_ notify: @escaping @Sendable (SequenceNumber, Record) -> Void) {
        listener.withLock { $0 = Listener(notify: notify) }
    }

    func notify(_ records: [Record], from first: SequenceNumber) {
        guard let listener = listener.withLock({ $0 }) else { return }
        for (place, record) in records.enumerated() { listener.notify(first + UInt64(place), record) }
    }
}
