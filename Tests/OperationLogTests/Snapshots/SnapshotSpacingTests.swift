import Testing

@testable import OperationLog

struct SnapshotSpacingTests {
    @Test(arguments: [1, 500] as [UInt64])
    func `older snapshots are kept less often, and few of many are kept`(_ first: UInt64) {
        var kept: [UInt64] = []
        for number in 1...1_000 as ClosedRange<UInt64> {
            kept.append(first + number * 10)
            let superfluous = SnapshotRetention.superfluous(kept, first: first)
            kept.removeAll(where: superfluous.contains)
            let newest = kept[kept.count - 1]
            for (older, younger) in zip(kept, kept.dropFirst()).dropLast(2) {
                #expect(younger - older <= 2 * (newest - younger), "\(older) and \(younger) of \(newest)")
            }
        }
        #expect(kept.count <= 16)
    }

    @Test func `the newest two snapshots are kept`() {
        for count in 1...40 {
            let all = (1...UInt64(count)).map { $0 * 3 }
            let superfluous = SnapshotRetention.superfluous(all, first: 1)
            #expect(superfluous.allSatisfy { !all.suffix(2).contains($0) })
        }
    }

    @Test func `the snapshot that a compacted log begins with is kept`() {
        let all = (1...100 as ClosedRange<UInt64>).map { 1_000 + $0 }
        #expect(!SnapshotRetention.superfluous(all, first: 1_000).contains(1_001))
    }

    @Test func `an empty list has no superfluous snapshots`() {
        #expect(SnapshotRetention.superfluous([], first: 1).isEmpty)
    }
}
