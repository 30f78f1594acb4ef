import SeededRandom
import Testing

@testable import SyncCore

struct SmallSetTests {
    // Few numbers give sets that are often empty, many give sets beyond the linear search.
    @Test(arguments: UInt64(1)...10, [2, 12, 200] as [Int])
    func `any changes lead to the elements of a set`(_ seed: UInt64, _ numbers: Int) {
        var random = SeededRandom(seed: seed)
        var (set, measure) = (SmallSet<Int>(), Set<Int>())
        for step in 0..<1_000 {
            let number = Int.random(in: 1...numbers, using: &random)
            // Grows and shrinks in turn.
            if Int.random(in: 0...9, using: &random) < (step / 100 % 2 == 0 ? 8 : 2) {
                set.insert(number)
                measure.insert(number)
            } else {
                set.remove(number)
                measure.remove(number)
            }
            #expect(set.isEmpty == measure.isEmpty)
            #expect(set.contains(number) == measure.contains(number), "seed \(seed), step \(step)")
            #expect(set.elements.sorted() == measure.sorted(), "seed \(seed), step \(step)")
            #expect(set.sorted == measure.sorted(), "seed \(seed), step \(step)")
        }
    }
}
