import SeededRandom
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

    /// Adds snapshots of a growing state to a log with segments of random sizes, and removes the superfluous ones.
    @Test(arguments: [1, 500] as [UInt64])
    func `snapshots within the log take at most as much space as the log`(_ first: UInt64) {
        var random = SeededRandom(seed: .testSeed())
        for _ in 0..<50 {
            var (segments, kept): ([SnapshotRetention.File], [SnapshotRetention.File]) = ([], [])
            var (next, largest) = (first, 0)
            if first > 1 { kept.append(.init(sequence: first, bytes: 500)) }
            for _ in 0..<200 {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    segments.append(.init(sequence: next, bytes: .random(in: 50...400, using: &random)))
                    next += .random(in: 1...30, using: &random)
                }
                kept.append(.init(sequence: next, bytes: .random(in: 300...4_000, using: &random)))
                let superfluous = SnapshotRetention.superfluous(kept, in: segments)
                #expect(superfluous.allSatisfy { gone in !kept.suffix(2).contains { $0.sequence == gone } })
                if first > 1 { #expect(!superfluous.contains(first)) }
                kept.removeAll { superfluous.contains($0.sequence) }
                let between = kept.dropFirst(first > 1 ? 1 : 0).dropLast(2)
                let log = segments.reduce(0) { $0 + $1.bytes }
                #expect(between.reduce(0) { $0 + $1.bytes } <= log, "\(between) and \(log) bytes of log")
                largest = max(largest, between.count)
            }
            // Not all of them are removed.
            #expect(largest > 2)
        }
    }

    @Test func `a snapshot that is larger than the log before it is superfluous`() {
        let segments: [SnapshotRetention.File] = (0..<8).map { .init(sequence: 1 + $0 * 100, bytes: 100) }
        func superfluous(_ bytes: UInt64) -> [UInt64] {
            let all = segments.dropFirst().map { SnapshotRetention.File(sequence: $0.sequence, bytes: bytes) }
            return SnapshotRetention.superfluous(all, in: segments)
        }
        #expect(superfluous(1_000) == [101, 201, 301, 401, 501])
        #expect(superfluous(250) == [101, 201, 401, 501])
        // Only their distances matter.
        #expect(superfluous(100) == SnapshotRetention.superfluous(segments.dropFirst().map(\.sequence), first: 1))
    }

    @Test func `an empty list has no superfluous snapshots`() {
        #expect(SnapshotRetention.superfluous([], first: 1).isEmpty)
    }
}
