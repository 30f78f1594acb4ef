import Operations
import Synchronization

/// Whoever wants to know of each record that goes into the log.
final class RecordTap: Sendable {
    /// A struct around the closure: one that is itself what the mutex holds gets a further thunk around it at every access,
    /// until calling it takes more stack than there is (Swift 6.3).
    private struct Listener: Sendable {
        let tell: @Sendable (SequenceNumber, Record) -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    func attach(_ tell: @escaping @Sendable (SequenceNumber, Record) -> Void) {
        listener.withLock { $0 = Listener(tell: tell) }
    }

    func tell(_ records: [Record], from first: SequenceNumber) {
        guard let listener = listener.withLock({ $0 }) else { return }
        for (place, record) in records.enumerated() { listener.tell(first + UInt64(place), record) }
    }
}
