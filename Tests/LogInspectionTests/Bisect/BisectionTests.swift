import Operations
import Testing

@testable import LogInspection

struct BisectionTests {
    /// Returns a search for a condition that holds from the given record on; nil if it never holds.
    private func search(
        records: UInt64, holdsFrom first: UInt64?, good: UInt64 = 0, cheap: [UInt64] = []
    ) -> Bisection {
        var search = Bisection(good: good, bad: good + records)
        while let place = search.next(preferring: cheap) {
            search.record(first.map { place >= $0 } ?? false ? .holds : .holdsNot, at: place)
        }
        return search
    }

    private func ceilingOfLog2(_ count: UInt64) -> Int {
        var steps = 0
        while UInt64(1) << UInt64(steps) < count { steps += 1 }
        return steps
    }

    @Test func `a bisection finds every position in at most log2 n plus one evaluations`() {
        for records in Array(2...70) + [100, 127, 128, 129] as [UInt64] {
            for first in 1...records {
                let search = search(records: records, holdsFrom: 7 + first, good: 7)
                #expect(search.outcome == .found(7 + first))
                #expect(search.evaluations <= ceilingOfLog2(records) + 1, "\(records) records")
            }
        }
        for records in [1_000, 1 << 20, 1_000_000, 123_456_789] as [UInt64] {
            for first in [1, 2, records / 3, records - 1, records] {
                let search = search(records: records, holdsFrom: first)
                #expect(search.outcome == .found(first))
                #expect(search.evaluations <= ceilingOfLog2(records) + 1, "\(records) records")
            }
        }
    }

    @Test func `cheap positions are preferred within the limit of evaluations`() {
        for records in [64, 100, 1_000, 1 << 16] as [UInt64] {
            let cheap = stride(from: UInt64(3), to: records, by: 37).map { $0 }
            for first in stride(from: UInt64(1), through: records, by: max(1, Int(records / 97))) {
                let search = search(records: records, holdsFrom: first, cheap: cheap)
                #expect(search.outcome == .found(first))
                #expect(search.evaluations <= ceilingOfLog2(records) + 1)
            }
        }
        #expect(Bisection(good: 0, bad: 1_000).next(preferring: [10, 470, 900]) == 470)
        // A preferred place may be far from the middle; after that, each one must halve the remaining range.
        var search = Bisection(good: 0, bad: 1_000)
        #expect(search.next(preferring: [1]) == 1)
        search.record(.holdsNot, at: 1)
        #expect(search.next(preferring: [2]) == 501)
    }

    @Test func `a condition that never holds or holds at the start is reported`() {
        #expect(search(records: 100, holdsFrom: nil).outcome == .neverHolds)
        #expect(search(records: 100, holdsFrom: 5, good: 5).outcome == .holdsAlready)
        #expect(search(records: 1, holdsFrom: nil).outcome == .neverHolds)
        #expect(search(records: 1, holdsFrom: 1).outcome == .found(1))
    }

    @Test func `a bisection of a non-monotonic condition finds a record after which it starts to hold`() {
        // The condition changes many times: it holds for two of each five places, and for the last one.
        let holds = { (place: UInt64) in place % 5 == 2 || place % 5 == 3 || place == 61 }
        var search = Bisection(good: 0, bad: 61)
        while let place = search.next() { search.record(holds(place) ? .holds : .holdsNot, at: place) }
        guard case .found(let place) = search.outcome else { return #expect(Bool(false)) }
        #expect(holds(place) && !holds(place - 1))
    }

    @Test func `positions that cannot be evaluated are skipped, and lead to a range if necessary`() {
        var search = Bisection(good: 0, bad: 40)
        while let place = search.next() {
            search.record((18...22).contains(place) ? .skipped : place >= 30 ? .holds : .holdsNot, at: place)
        }
        #expect(search.outcome == .found(30))
        search = Bisection(good: 0, bad: 40)
        while let place = search.next() {
            search.record((18...22).contains(place) ? .skipped : place >= 20 ? .holds : .holdsNot, at: place)
        }
        #expect(search.outcome == .undecided(18...23))
    }

    @Test func `a bisection between any ends does not trap`() {
        var search = Bisection(good: 0, bad: .max)
        while let place = search.next() { search.record(place >= 5_000_000_000 ? .holds : .holdsNot, at: place) }
        #expect(search.outcome == .found(5_000_000_000))
        #expect(search.evaluations <= 65)
    }
}
