import EDM
import Operations
import SeededRandom
import Testing

@testable import SyncCore

/// The accesses that decide which operations have to be reapplied.
struct AccessTests {
    private static let reads: [Access] = [.readsExistence, .readsKeys, .readsValues, .readsMembers]
    private static let writes: [Access] = [.writesExistence, .writesKeys, .writesValues, .writesMembers]

    @Test func `each kind of access is a flag of its own`() {
        let all = Self.reads + Self.writes
        #expect(all.reduce(Access(rawValue: 0)) { $0.union($1) }.rawValue == .max)
        #expect(all.allSatisfy { $0.rawValue.nonzeroBitCount == 1 })
        #expect(Self.writes.allSatisfy { Access.writes.contains($0) })
        #expect(Self.reads.allSatisfy { Access.writes.isDisjoint(with: $0) })
    }

    @Test func `a write disturbs the reads of its own kind, in both orders`() {
        for (i, read) in Self.reads.enumerated() {
            for (j, write) in Self.writes.enumerated() {
                #expect(write.disturbs(later: read) == (i == j))
                #expect(read.disturbs(later: write) == (i == j))
            }
        }
    }

    @Test func `reads do not disturb each other`() {
        for first in Self.reads { for second in Self.reads { #expect(!first.disturbs(later: second)) } }
    }

    @Test func `only writes of the whole item overwrite each other`() {
        for first in Self.writes {
            for second in Self.writes {
                let overwrites = first == .writesValues && second == .writesValues
                #expect(first.overwrites(second) == overwrites)
                #expect(first.disturbs(later: second) == overwrites)
            }
        }
    }

    @Test func `an access disturbs several others exactly if it disturbs one of them`() {
        let all = (0...UInt8.max).map { Access(rawValue: $0) }
        for earlier in all {
            let disturbed = all.allSatisfy { later in
                let kinds = (Self.reads + Self.writes).filter(later.contains)
                return earlier.disturbs(later: later) == kinds.contains { earlier.disturbs(later: $0) }
            }
            #expect(disturbed, "\(earlier)")
            #expect(all.allSatisfy { !$0.overwrites(earlier) || earlier.disturbs(later: $0) }, "\(earlier)")
        }
    }

    // MARK: Effects

    private let link = DirtySet.LinkEnds(
        relationship: "R", first: EntityID(rawValue: 1), second: EntityID(rawValue: 2))

    private func effect(_ accesses: [(StateItem, Access)], _ links: [DirtySet.LinkEnds] = []) -> OperationEffect {
        var effect = OperationEffect()
        for (item, access) in accesses { effect.record(item, access) }
        effect.links = links
        return effect
    }

    @Test func `effects are equal if they contain the same accesses and links, in any order`() {
        let (one, two) = (StateItem.entity(EntityID(rawValue: 1)), StateItem.entity(EntityID(rawValue: 2)))
        let both = effect([(one, .readsKeys), (two, .writesValues)], [link])
        #expect(both == effect([(two, .writesValues), (one, .readsKeys)], [link, link]))
        #expect(both != effect([(one, .readsKeys), (two, .writesValues)]))
        #expect(both != effect([(one, .readsKeys)], [link]))
        #expect(effect([(one, .readsKeys)], [link]) != both)
        #expect(both != effect([(one, .readsValues), (two, .writesValues)], [link]))
    }

    @Test func `an effect is decoded as it was encoded`() throws {
        let items: [(StateItem, Access)] = [
            (.entity(EntityID(rawValue: 1)), [.readsKeys, .writesValues]),
            (.end("R", EntityID(rawValue: 1), isFirst: true), .readsMembers),
            (.match("Orders", [("Note", .string("x"))]), .writesMembers),
        ]
        let effect = effect(items, [link])
        #expect(try OperationEffect(encoded: effect.encoded) == effect)
        #expect(items.compactMap(\.0.entity) == [EntityID(rawValue: 1)], "a hash is no entity")
    }

    @Test func `effects stay as they are when those of most other operations are removed`() {
        func written(by sequence: SequenceNumber) -> OperationEffect {
            let id = EntityID(rawValue: sequence)
            // The first relationship is only one of removed operations.
            let relationship = sequence == 1 ? "A" : "R\(sequence % 3)"
            let own = DirtySet.LinkEnds(relationship: relationship, first: id, second: EntityID(rawValue: 2))
            return effect([(.entity(id), .writesValues), (.end("R", id, isFirst: true), .readsMembers)], [own, link])
        }
        let log = EffectLog()
        for sequence: SequenceNumber in 1...600 { log.put(written(by: sequence), of: sequence) }
        for sequence: SequenceNumber in 1...590 { log.remove(sequence) }
        #expect(log.count == 10)
        log.put(written(by: 601), of: 601)
        for sequence: SequenceNumber in 591...601 {
            #expect(log[sequence] == written(by: sequence))
            #expect(log.links(of: sequence) == written(by: sequence).links)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `the operations that an access disturbs are those of a search of all effects`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let log = EffectLog()
        var model: [SequenceNumber: OperationEffect] = [:]
        func anyAccess() -> Access {
            // Few kinds, so that many lists end early.
            let all = Self.reads + Self.writes
            return all.randomElement(using: &random)!.union(all.randomElement(using: &random)!)
        }
        for step in 0..<3_000 {
            let sequence = SequenceNumber.random(in: 1...100, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let items = (0..<8).map { StateItem(rawValue: $0) }.filter { _ in Bool.random(using: &random) }
                let effect = effect(items.map { ($0, anyAccess()) })
                log.put(effect, of: sequence)
                model[sequence] = effect
            case 5..<8:
                let removed = Bool.random(using: &random) ? sequence : model.keys.min() ?? sequence
                log.remove(removed)
                model[removed] = nil
            default:
                let (item, earlier) = (StateItem(rawValue: UInt64.random(in: 0..<8, using: &random)), anyAccess())
                let expected = model.compactMapValues { $0.access(to: item) }
                    .filter { earlier.disturbs(later: $0.value) }
                var found: [(operation: SequenceNumber, access: Access)] = []
                log.forEachAccess(to: item, disturbedBy: earlier) { found.append(($0, $1)) }
                #expect(found.count == expected.count, "seed \(seed), step \(step)")
                #expect(found.allSatisfy { expected[$0.operation] == $0.access }, "seed \(seed), step \(step)")
            }
        }
    }

    @Test func `the items of entities, links, ends and values differ`() {
        let id = EntityID(rawValue: 7)
        let items: [StateItem] = [
            .entity(id), .link("R", id, id), .end("R", id, isFirst: true), .end("R", id, isFirst: false),
            .match("R", [("A", .integer(7))]), .match("R", [("B", .integer(7))]),
        ]
        #expect(Set(items).count == items.count)
        #expect(items.compactMap(\.entity) == [id])
    }

    @Test func `values that a storage treats as equal have one item`() {
        func item(_ value: Value) -> StateItem? { StateItem.MatchItems("S", ["A"]).item(of: ["A": value]) }
        #expect(item(.string("Ada")) == item(.string("aDA")))
        #expect(item(.string("Ada")) != item(.string("Adb")))
        #expect(item(.string("é")) == item(.string("É")), "their order is that of the storage")
        #expect(item(.string("Ada")) == .match("S", [("A", .string("ada"))]))
        #expect(item(.null) == nil)
        #expect(StateItem.MatchItems("S", ["A", "B"]).item(of: ["A": .integer(1)]) == nil)
    }
}
