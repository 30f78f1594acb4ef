import Operations
import Synchronization
import Testing

@testable import SyncEngine

struct SyncActivityTests {
    private let activity = SyncActivity()
    private let records = (1...3 as ClosedRange<Timestamp>).map { Record(time: $0, body: .entitiesMissing([])) }

    /// The records that observers have received.
    private final class Received: Sendable {
        private let content = Mutex<[SequenceNumber]>([])
        var sequences: [SequenceNumber] { content.withLock { $0 } }

        func append(_ event: SyncEvent) {
            guard case .recorded(let sequence, _) = event else { return }
            content.withLock { $0.append(sequence) }
        }
    }

    @Test func `the observers receive each record of a transaction with its number`() {
        let received = Received()
        _ = activity.add(received.append)
        activity.notify(records, from: 7)
        #expect(received.sequences == [7, 8, 9])
    }

    @Test func `an observer that removes itself receives no further record of the transaction`() {
        let received = Received()
        let number = Mutex<Int?>(nil)
        let added = activity.add { [activity] event in
            received.append(event)
            if let own = number.withLock({ $0 }) { activity.remove(own) }
        }
        number.withLock { $0 = added }
        activity.notify(records, from: 7)
        #expect(received.sequences == [7])
    }

    @Test func `an observer that is added during a record receives the rest of the transaction`() {
        let received = Received()
        let isAdded = Mutex(false)
        _ = activity.add { [activity] _ in
            let isFirst = isAdded.withLock { isAdded in
                defer { isAdded = true }
                return !isAdded
            }
            if isFirst { _ = activity.add(received.append) }
        }
        activity.notify(records, from: 7)
        #expect(received.sequences == [8, 9])
    }
}
