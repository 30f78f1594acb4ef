import Operations
import Synchronization

/// Notifies a listener of the records after they are appended to the log.
final class RecordNotifier: Sendable {
    /// A struct around the closure. If the mutex held the closure itself, each access would add a thunk, until a call
    /// overflows the stack (Swift 6.3).
    private struct Listener: Sendable {
        let notify: @Sendable ([Record], _ first: SequenceNumber) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    func attach(_ notify: @escaping @Sendable ([Record], _ first: SequenceNumber) -> Void) {
        listener.withLock { $0 = Listener(notify: notify) }
    }

    func notify(_ records: [Record], from first: SequenceNumber) {
        listener.withLock { $0 }?.notify(records, first)
    }
}
