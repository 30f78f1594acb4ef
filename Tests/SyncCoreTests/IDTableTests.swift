import Operations
import SeededRandom
import SyncCore
import Testing

/// A table by entity ID has the same values as a dictionary.
struct IDTableTests {
    private enum Numbers: CaseIterable {
        /// Consecutive numbers, like those of entities.
        case near
        /// Numbers with the same low bits.
        case crowded
        case anywhere

        func number(_ random: inout SeededRandom) -> UInt64 {
            switch self {
            case .near: UInt64.random(in: 1...200, using: &random)
            case .crowded: UInt64.random(in: 0...60, using: &random) << 32
            case .anywhere: random.next() >> UInt64.random(in: 0...63, using: &random)
            }
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `any changes lead to the values of a dictionary`(_ seed: UInt64) {
        for numbers in Numbers.allCases {
            var random = SeededRandom(seed: seed)
            var (table, measure) = (IDTable<Int>(), [UInt64: Int]())
            for step in 0..<2_000 {
                let id = numbers.number(&random)
                switch UInt8.random(in: 0...9, using: &random) {
                case 0...3: #expect(table.updateValue(step, for: id) == measure.updateValue(step, forKey: id))
                case 4...7: #expect(table.removeValue(for: id) == measure.removeValue(forKey: id))
                case 8:
                    let place = table.place(of: id, inserting: -step)
                    table[at: place] += 1
                    measure[id, default: -step] += 1
                default:
                    if step % 500 == 0 { (table, measure) = (IDTable(), [:]) }
                }
                #expect(table[id] == measure[id], "seed \(seed), \(numbers), step \(step)")
            }
            #expect(table.count == measure.count)
            let all = Dictionary(uniqueKeysWithValues: zip(table.ids, table.values))
            #expect(all == measure, "seed \(seed), \(numbers)")
            for id in measure.keys { #expect(table[id] == measure[id], "seed \(seed), \(numbers)") }
        }
    }

    @Test func `numbers that continue from 0 after the highest one are found, also without the first`() {
        var table = IDTable<UInt64>()
        // Beyond 16 entries the table is searched by hash and by the distance from the first number.
        let count: UInt64 = 40
        for number in 0..<count {
            #expect(table.updateValue(number, for: .max &+ number) == nil)
            for known in 0...number { #expect(table[.max &+ known] == known, "of \(number)") }
            #expect(table[.max &+ number &+ 1] == nil && table[.max - 1] == nil)
        }
        #expect(table.removeValue(for: UInt64.max) == 0)
        #expect(table[UInt64.max] == nil && table.count == Int(count) - 1)
        for number in 1..<count { #expect(table[.max &+ number] == number) }
        table.updateValue(7, for: .max)
        #expect(table[UInt64.max] == 7 && table.count == Int(count))
    }

    @Test(arguments: [2, 16, 17, 18, 100] as [UInt64])
    func `consecutive numbers are found after any of them was removed and inserted again`(_ count: UInt64) {
        for gone in 0..<count {
            var table = IDTable<UInt64>()
            for number in 0..<count { table.updateValue(number, for: number + 9) }
            #expect(table.ids.elementsEqual(9..<count + 9) && table.values == Array(0..<count))
            #expect(table.removeValue(for: gone + 9) == gone)
            #expect(table.ids.elementsEqual(table.values.map { $0 + 9 }) && table.count + 1 == count, "\(gone)")
            for number in 0..<count { #expect(table[number + 9] == (number == gone ? nil : number), "\(gone)") }
            table.updateValue(gone, for: gone + 9)
            table.updateValue(count, for: count + 9)
            for number in 0...count { #expect(table[number + 9] == number, "\(gone)") }
            for number in 0...count { #expect(table.removeValue(for: number + 9) == number, "\(gone)") }
            #expect(table.isEmpty && table[9 + gone] == nil)
            for number in 0..<count { #expect(table.updateValue(number, for: number) == nil, "\(gone)") }
        }
    }

    @Test func `a copy is independent of the original`() {
        var table = IDTable<String>()
        for id in 1...100 as ClosedRange<UInt64> { table.updateValue("\(id)", for: id) }
        let copy = table
        for id in 1...50 as ClosedRange<UInt64> { table.removeValue(for: id) }
        #expect(copy.count == 100 && copy[7] == "7" && table[7] == nil && table[77] == "77")
    }
}
