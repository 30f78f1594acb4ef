import Operations
import Synchronization
import Testing
@testable import OfflineStore

struct RecordNotifierTests {
    /// The number of commits of an app that is never closed. The stack of the thread must suffice.
    @Test func `an observer is notified of any number of commits`() {
        let tap = RecordNotifier()
        let reported = Mutex<UInt64>(0)
        let record = Record(time: 0, body: .entitiesMissing([]))
        tap.attach { _, sequence in reported.withLock { $0 = sequence } }
        for sequence in 1...400_000 as ClosedRange<UInt64> { tap.notify([record], from: sequence) }
        #expect(reported.withLock { $0 } == 400_000)
    }
}
