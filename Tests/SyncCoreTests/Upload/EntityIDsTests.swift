import Operations
import SeededRandom
import Testing

@testable import SyncCore

/// Sets of entity IDs, compared with those of the standard library.
struct EntityIDsTests {
    /// Few numbers give sets with one ID or none, many give sets beyond the insertion of single IDs.
    @Test(arguments: UInt64(1)...20, [2, 5, 40] as [UInt64])
    func `any changes lead to the IDs of a set, in ascending order`(_ seed: UInt64, _ numbers: UInt64) {
        var random = SeededRandom(seed: seed)
        func some() -> [EntityID] {
            (0..<UInt64.random(in: 0...numbers, using: &random)).map { _ in
                EntityID(rawValue: UInt64.random(in: 1...numbers, using: &random))
            }
        }
        var (ids, measure) = (EntityIDs(), Set<EntityID>())
        for step in 0..<200 {
            let others = some()
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                ids.formUnion(EntityIDs(others))
                measure.formUnion(others)
            case 1, 2:
                ids.subtract(EntityIDs(others))
                measure.subtract(others)
            default:
                for id in others.prefix(1) {
                    ids.insert(id)
                    measure.insert(id)
                }
            }
            #expect(Array(ids) == measure.sorted(), "seed \(seed), step \(step)")
            #expect(ids.isEmpty == measure.isEmpty, "seed \(seed), step \(step)")
            for id in (1...numbers).map(EntityID.init(rawValue:)) {
                #expect(ids.contains(id) == measure.contains(id), "seed \(seed), step \(step)")
            }
            #expect(ids == EntityIDs(measure), "seed \(seed), step \(step)")
            #expect(ids.isSubset(of: EntityIDs(others)) == measure.isSubset(of: others), "seed \(seed), step \(step)")
        }
    }
}
