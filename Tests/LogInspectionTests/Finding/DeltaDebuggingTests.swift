import Testing

@testable import LogInspection

struct DeltaDebuggingTests {
    private func reduce(_ elements: [Int], _ fails: ([Int]) -> Bool) -> (kept: [Int], trials: Int) {
        var search = DeltaDebugging(elements)
        while let part = search.next() { search.record(fails: fails(part)) }
        return (search.kept, search.trials)
    }

    @Test func `exactly the necessary elements remain`() {
        for needed in [[], [0], [99], [17, 18], [3, 50, 98], Array(40...60)] {
            let found = reduce(Array(0..<100)) { Set($0).isSuperset(of: needed) }
            #expect(found.kept == needed)
        }
    }

    @Test func `one of two sufficient elements remains`() {
        let found = reduce(Array(0..<64)) { $0.contains(5) || $0.contains(40) }
        #expect(found.kept.count == 1)
    }

    @Test func `none of the remaining elements can be removed`() {
        // Fails with at least four elements that include 9.
        let fails = { (part: [Int]) in part.count >= 4 && part.contains(9) }
        let found = reduce(Array(0..<50), fails)
        #expect(found.kept.count == 4)
        for element in found.kept { #expect(!fails(found.kept.filter { $0 != element })) }
    }

    @Test func `one necessary element among many is found in few trials`() {
        let found = reduce(Array(0..<4_096)) { $0.contains(1_234) }
        #expect(found.kept == [1_234])
        #expect(found.trials <= 2 * 13 + 2)
    }

    @Test func `lists with one element and empty lists are handled`() {
        #expect(reduce([]) { _ in true }.kept == [])
        #expect(reduce([1]) { _ in true }.kept == [])
        #expect(reduce([1]) { !$0.isEmpty }.kept == [1])
    }
}
