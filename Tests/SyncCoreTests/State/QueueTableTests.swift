import EDM
import Operations
import Testing

@testable import SyncCore

/// The queue of a storage, which is read when it is first used.
struct QueueTableTests {
    private let id = EntityID(rawValue: 1)
    private let refused = PendingOperation.Status.rejected(
        Refusal(status: 400, code: "", message: "", method: "PATCH", url: ""))

    private func operation(_ sequence: SequenceNumber, of id: UInt64 = 1) -> PendingOperation {
        PendingOperation(
            sequence: sequence, time: 1, operation: Operation(.delete(EntityID(rawValue: id))), status: .pending)
    }

    /// Returns a table over a storage with the operations 1 and 2, which have effects.
    private func table() -> QueueTable {
        let table = QueueTable()
        table.reader = {
            let stored = PendingQueue()
            for sequence: SequenceNumber in 1...2 {
                stored.put(operation(sequence), about: [id])
                stored.putEffect(OperationEffect(), of: sequence)
            }
            return stored
        }
        return table
    }

    @Test(arguments: 0..<6)
    func `a change of a stored queue is a change of all its operations`(_ change: Int) throws {
        let table = table()
        #expect(!table.isLoaded)
        switch change {
        case 0: try table.put(operation(3), about: [id])
        case 1: try table.setStatus(refused, since: 9, of: 1)
        case 2: try table.remove(1)
        case 3: try table.putEffect(OperationEffect(), of: 3)
        case 4: try table.removeEffect(of: 1)
        default: try table.removeEffects()
        }
        #expect(table.isLoaded)
        let queue = try table.load()
        #expect(Array(queue.sequences) == [[1, 2, 3], [1, 2], [2], [1, 2], [1, 2], [1, 2]][change])
        #expect(queue.effects.count == [2, 2, 2, 3, 1, 0][change])
        #expect(queue.status(of: 1)?.status == (change == 1 ? refused : change == 2 ? nil : .pending))
    }

    @Test func `a queue that is read in a transaction is rolled back to what was read`() throws {
        let table = table()
        table.begin()
        try table.put(operation(3), about: [id])
        table.rollBack()
        #expect(try Array(table.load().sequences) == [1, 2])
        #expect(!table.hasTransaction)
    }

    @Test func `stored effects are read once, before the first use, and a rollback keeps them`() throws {
        let table = table()
        let queue = try table.load()
        queue.removeEffects()
        var reads = 0
        queue.effectsReader = {
            reads += 1
            let effects = EffectLog()
            for sequence: SequenceNumber in 1...2 { effects.put(OperationEffect(), of: sequence) }
            return effects
        }
        table.begin()
        try table.put(operation(3), about: [id])
        #expect(reads == 0)
        try table.putEffect(OperationEffect(), of: 3)
        #expect(queue.effects.count == 3)
        table.rollBack()
        #expect(queue.effects.count == 2)
        try table.removeEffect(of: 1)
        #expect(queue.effects.count == 1)
        #expect(reads == 1)
    }

    @Test func `a discarded queue is read again`() throws {
        let table = table()
        try table.put(operation(3), about: [id])
        table.invalidate()
        #expect(try Array(table.load().sequences) == [1, 2])
        #expect(table.drainChanges().isEmpty)
    }

    @Test func `a storage has to write an operation whose status and content change as a whole`() throws {
        let table = table()
        try table.setStatus(refused, since: 9, of: 2)
        try table.setStatus(refused, since: 9, of: 7)
        try table.put(operation(1), about: [id])
        try table.setStatus(refused, since: 9, of: 1)
        let changes = table.drainChanges()
        #expect(changes.map(\.sequence) == [1, 2], "operation 7 is not pending")
        #expect(changes.map { $0.change == .operation } == [true, false])
        #expect(table.drainChanges().isEmpty)
    }

    @Test func `the encoded form of an operation is kept until its content changes`() throws {
        let table = table()
        for sequence: SequenceNumber in 3...5 {
            try table.put(operation(sequence), about: [id], encoded: [UInt8(sequence), 0])
        }
        try table.setStatus(refused, since: 9, of: 1)
        try table.setStatus(refused, since: 9, of: 3)
        try table.put(operation(4, of: 2), about: [id])
        #expect(table.encodedOperations == [3, 0, 4, 0, 5, 0])
        let changes = table.drainChanges().map(\.change)
        #expect(changes == [.status, .encodedOperation(0..<2), .operation, .encodedOperation(4..<6)])
        #expect(table.encodedOperations.isEmpty)
    }

    @Test func `the entities whose status may have changed are those before and after the change`() throws {
        let table = table()
        table.tracksPendingStates = true
        try table.put(operation(1, of: 2), about: [EntityID(rawValue: 3)])
        #expect(table.drainChangedPendingStates() == Set([1, 2, 3].map { EntityID(rawValue: $0) }))
        try table.setStatus(refused, since: 9, of: 2)
        #expect(table.drainChangedPendingStates() == [id])
        try table.remove(1)
        #expect(table.drainChangedPendingStates() == Set([2, 3].map { EntityID(rawValue: $0) }))
        table.tracksPendingStates = false
        try table.remove(2)
        #expect(table.drainChangedPendingStates().isEmpty)
    }

    @Test func `a copy of a table is independent`() throws {
        let table = table()
        try table.load()
        let copy = table.copy()
        try copy.remove(1)
        #expect(Array(table.pending.sequences) == [1, 2])
        #expect(Array(copy.pending.sequences) == [2])
    }
}
