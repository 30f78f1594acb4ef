import Operations
import SyncCore
import Testing

@testable import Simulation

/// Each operation that remains at the end of a run has a reason.
struct UndrainedQueueTests {
    private func stalled(_ held: [SequenceNumber: HoldReason], of operations: SequenceNumber...) -> [SequenceNumber] {
        UndrainedQueue(operations, held: held).stalled { $0 == EntityID(rawValue: 1) }
    }

    @Test func `an operation that waits has the reason of the operation that it waits for`() {
        #expect(stalled([1: .noLegalPlan("why"), 2: .waitsFor(1), 3: .waitsFor(2)], of: 1, 2, 3) == [])
        #expect(stalled([1: .rejected, 2: .behindRejected(1), 3: .withOperation(2)], of: 1, 2, 3) == [])
    }

    @Test func `an operation that waits for a missing operation is stalled`() {
        #expect(stalled([2: .waitsFor(1)], of: 2) == [2])
        #expect(stalled([2: .behindRejected(1), 3: .waitsFor(2)], of: 2, 3) == [2, 3])
    }

    @Test func `an operation that could be sent is stalled, with all operations that wait for it`() {
        #expect(stalled([2: .waitsFor(1)], of: 1, 2) == [1, 2])
        #expect(stalled([1: .deferred, 2: .behindDeferred(1)], of: 1, 2) == [1, 2])
    }

    @Test func `two operations that wait for each other are stalled`() {
        #expect(stalled([1: .waitsFor(2), 2: .waitsFor(1), 3: .waitsFor(3)], of: 1, 2, 3) == [1, 2, 3])
    }

    @Test func `a key that could be known is not a valid reason`() {
        let (lacking, known) = (EntityID(rawValue: 1), EntityID(rawValue: 2))
        #expect(stalled([1: .keyUnknown(lacking), 2: .keyUnknown(known)], of: 1, 2) == [2])
    }
}
