import Operations
import SeededRandom
import Testing

@testable import SyncCore

struct EntityIDSetTests {
    // Near IDs share their bit maps, distant ones have one each.
    @Test(arguments: UInt64(1)...10, [6, 12, 64] as [UInt64])
    func `any changes lead to the elements of a set`(_ seed: UInt64, _ bits: UInt64) {
        var random = SeededRandom(seed: seed)
        var (set, measure) = (EntityIDSet(), Set<EntityID>())
        var (other, otherMeasure) = (EntityIDSet(), Set<EntityID>())
        for step in 0..<300 {
            let id = EntityID(rawValue: random.next() >> (64 - bits))
            switch UInt8.random(in: 0...9, using: &random) {
            case 0...3:
                set.insert(id)
                measure.insert(id)
            case 4...6: #expect(set.remove(id) == (measure.remove(id) != nil))
            default:
                other.insert(id)
                otherMeasure.insert(id)
            }
            #expect(set.contains(id) == measure.contains(id), "seed \(seed), step \(step)")
            #expect(set.count == measure.count && set.isEmpty == measure.isEmpty, "seed \(seed), step \(step)")
            #expect(set.sorted() == measure.sorted(), "seed \(seed), step \(step)")
        }
        #expect(set != other)
        set.formUnion(other)
        measure.formUnion(otherMeasure)
        #expect(set.sorted() == measure.sorted() && set.count == measure.count, "seed \(seed)")
        var again = EntityIDSet()
        for id in measure.sorted().reversed() { again.insert(id) }
        #expect(set == again)
    }
}
