import SeededRandom
import Testing

@testable import SyncCore

struct ListDifferenceTests {
    private struct Item: Hashable, Sendable {
        var name: Int
        var text: Int
    }

    private func difference(_ old: [Item], _ new: [Item]) -> ListDifference<Int> {
        ListDifference(from: old, to: new) { $0.name }
    }

    private func items(_ names: Int...) -> [Item] { names.map { Item(name: $0, text: 0) } }

    @Test func `equal lists have no difference`() {
        #expect(difference(items(1, 2, 3), items(1, 2, 3)).isEmpty)
        #expect(difference([], []).isEmpty)
    }

    @Test func `insertions and deletions have positions, and shifted items are not moved`() {
        let found = difference(items(1, 2, 3, 4), items(9, 1, 3, 4, 8))
        #expect(found.removed == [.init(identity: 2, index: 1)])
        #expect(found.inserted == [.init(identity: 9, index: 0), .init(identity: 8, index: 4)])
        #expect(found.moved.isEmpty)
        #expect(found.changed.isEmpty)
    }

    @Test func `moving one item to the end is one move`() {
        let found = difference(items(1, 2, 3, 4), items(2, 3, 4, 1))
        #expect(found.moved == [.init(identity: 1, from: 0, to: 3)])
    }

    @Test func `an item with another content is changed, moved or not`() {
        let found = difference(
            items(1, 2, 3), [Item(name: 3, text: 7), Item(name: 1, text: 0), Item(name: 2, text: 5)])
        #expect(found.moved == [.init(identity: 3, from: 2, to: 0)])
        #expect(found.changed == [.init(identity: 3, from: 2, to: 0), .init(identity: 2, from: 1, to: 2)])
    }

    @Test func `equal identities are distinguished by their occurrence`() {
        let found = difference(items(5, 5, 6), items(5, 6, 5, 5))
        #expect(found.removed.isEmpty)
        #expect(found.inserted == [.init(identity: 5, index: 3)])
        #expect(found.moved.count == 1)
    }

    @Test func `a difference converts the old list to the new one with a minimum of moves`() {
        let seed = UInt64.testSeed()
        var chance = SeededRandom(seed: seed)
        for _ in 0..<2_000 {
            let old = list(&chance)
            let new = list(&chance)
            let found = difference(old, new)
            let applied = found.applied(to: old) { new[$0] }
            #expect(applied == new, "seed \(seed): \(old) to \(new)")
            let stays = Set(old.map(\.name)).intersection(new.map(\.name))
            let most = longestCommonPart(
                old.map(\.name).filter(stays.contains), new.map(\.name).filter(stays.contains))
            #expect(found.moved.count == stays.count - most, "seed \(seed): \(old) to \(new)")
            guard applied == new else { return }
        }
    }

    private func list(_ chance: inout SeededRandom) -> [Item] {
        var names = Array(0..<8)
        names.shuffle(using: &chance)
        return names.prefix(Int.random(in: 0...8, using: &chance)).map {
            Item(name: $0, text: Int.random(in: 0...2, using: &chance))
        }
    }

    private func longestCommonPart(_ a: [Int], _ b: [Int]) -> Int {
        var lengths = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in a.indices {
            for j in b.indices {
                lengths[i + 1][j + 1] = a[i] == b[j] ? lengths[i][j] + 1 : max(lengths[i][j + 1], lengths[i + 1][j])
            }
        }
        return lengths[a.count][b.count]
    }
}
