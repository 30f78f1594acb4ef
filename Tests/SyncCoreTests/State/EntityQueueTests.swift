import Operations
import SeededRandom
import Testing

@testable import SyncCore

struct EntityQueueTests {
    @Test(arguments: UInt64(1)...10, [2, 12, 200] as [UInt64])
    func `operations in any order are found in ascending order`(_ seed: UInt64, _ numbers: UInt64) {
        var random = SeededRandom(seed: seed)
        var (queue, measure) = (EntityQueue(), [SequenceNumber: Bool]())
        for step in 0..<1_000 {
            // Grows and shrinks in turn, and in every other phase from the first operation on, as an upload does.
            let isAdded = Int.random(in: 0...9, using: &random) < (step / 100 % 2 == 0 ? 8 : 2)
            var number = SequenceNumber.random(in: 1...numbers, using: &random)
            if !isAdded, step / 200 % 2 == 0, let first = measure.keys.min() { number = first }
            if isAdded {
                let changes = measure[number] ?? Bool.random(using: &random)
                queue.insert(number, changes: changes)
                measure[number] = changes
            } else {
                queue.remove(number)
                measure[number] = nil
            }
            let changing = measure.filter(\.value).keys.sorted()
            #expect(queue.naming == measure.keys.sorted(), "seed \(seed), step \(step)")
            #expect(queue.changing == changing, "seed \(seed), step \(step)")
            #expect(queue.firstNaming == measure.keys.min())
            #expect(queue.hasChange == !changing.isEmpty)
            #expect(queue.isEmpty == measure.isEmpty)
        }
    }
}
