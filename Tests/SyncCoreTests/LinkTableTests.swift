import Operations
import SeededRandom
import Testing

@testable import SyncCore

/// A table of links has the same links as a dictionary.
struct LinkTableTests {
    private typealias Key = DirtyItems.LinkEnds

    /// The content of a place: a link, or nil for a link of the backing that is removed.
    private typealias Measure = [Key: LinkRow?]

    private static let relationships = ["owner", "friend", "tag"] + (1...8).map { "relationship \($0)" }

    private static func key(_ random: inout SeededRandom, _ entities: UInt64) -> Key {
        Key(
            relationship: relationships.randomElement(using: &random) ?? "",
            first: EntityID(rawValue: .random(in: 1...entities, using: &random)),
            second: EntityID(rawValue: .random(in: 1...entities, using: &random)))
    }

    private static func link(_ key: Key, _ random: inout SeededRandom) -> LinkRow {
        let inBase = Bool.random(using: &random)
        return LinkRow(
            relationship: key.relationship, first: key.first, second: key.second, inBase: inBase,
            inLocal: !inBase || .random(using: &random))
    }

    // Few entities give links between an entity and itself, and long lists of one entity.
    @Test(arguments: UInt64(1)...20, [2, 6, 40] as [UInt64])
    func `any changes lead to the links of a dictionary`(_ seed: UInt64, _ entities: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = LinkTable()
        var measure = Measure()
        for step in 0..<600 {
            let key = Self.key(&random, entities)
            let known = measure[key] ?? nil
            switch UInt8.random(in: 0...9, using: &random) {
            case 0...4:
                let link = Self.link(key, &random)
                let former = table.put(link)
                #expect(former == known)
                measure[key] = .some(link)
            case 5...6:
                let former = table.remove(key, hidesBelow: false)
                #expect(former == known)
                measure[key] = nil
            case 7:
                let former = table.remove(key, hidesBelow: true)
                #expect(former == known)
                measure[key] = .some(nil)
            case 8:
                let former = table.find(key)
                table.put(Self.link(key, &random))
                table.restore(key, to: former)
            default:
                if step % 200 == 0 {
                    table = LinkTable()
                    measure = [:]
                }
                if step % 200 == 100 {
                    table.removeAll()
                    measure = [:]
                }
            }
            let (found, decides) = (table[key], table.contains(key))
            #expect(found == (measure[key] ?? nil), "seed \(seed), step \(step)")
            #expect(decides == (measure[key] != nil), "seed \(seed), step \(step)")
            if step % 50 == 49 { check(table, measure, "seed \(seed), \(entities) entities, step \(step)") }
        }
    }

    private func check(_ table: borrowing LinkTable, _ measure: Measure, _ place: Comment) {
        let links = measure.values.compactMap { $0 }
        let (count, isEmpty, lastEntity) = (table.count, table.isEmpty, table.lastEntity)
        let (found, changed) = (table.links, table.changed)
        #expect(count == measure.count, place)
        #expect(isEmpty == measure.isEmpty, place)
        #expect(Set(found) == Set(links) && found.count == links.count, place)
        #expect(Set(changed) == Set(links.filter { $0.inBase != $0.inLocal }), place)
        #expect(lastEntity == measure.keys.map { max($0.first, $0.second) }.max(), place)
        for id in Set(measure.keys.flatMap { [$0.first, $0.second] }) {
            let found = table.links(of: id)
            let expected = measure.filter { $0.key.first == id || $0.key.second == id }
            #expect(found.decides == !expected.isEmpty, place)
            #expect(Set(found.links) == Set(expected.values.compactMap { $0 }), place)
            #expect(found.links.count == Set(found.links).count, "a link is found once: \(place)")
            for isFirst in [true, false] {
                let found = table.links("friend", of: id, isFirst: isFirst)
                let own = expected.filter {
                    $0.key.relationship == "friend" && (isFirst ? $0.key.first : $0.key.second) == id
                }
                #expect(found.decides == !own.isEmpty, place)
                #expect(Set(found.links) == Set(own.values.compactMap { $0 }), place)
            }
        }
    }

    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func `links whose keys have the same hash are separate`(_ order: [Int]) {
        // The hash is the sum of a part for the first end and a multiple of the second one by an odd number.
        let factor = LinkTable.hash(0, 0, 1)
        var inverse = factor
        for _ in 0..<6 { inverse = inverse &* (2 &- factor &* inverse) }
        let keys = (1...3 as ClosedRange<UInt64>).map { first in
            Key(
                relationship: "owner", first: EntityID(rawValue: first),
                second: EntityID(rawValue: (0 &- LinkTable.hash(0, first, 0)) &* inverse))
        }
        #expect(keys.allSatisfy { LinkTable.hash(0, $0.first.rawValue, $0.second.rawValue) == 0 })
        var table = LinkTable()
        var left = Set(keys)
        for key in keys {
            table.put(
                LinkRow(
                    relationship: "owner", first: key.first, second: key.second, inBase: true, inLocal: true))
        }
        for place in order {
            for key in keys { #expect(table.contains(key) == left.contains(key)) }
            table.remove(keys[place], hidesBelow: false)
            left.remove(keys[place])
        }
        #expect(table.isEmpty && table.links.isEmpty)
    }
}
