/// The retention policy for snapshots.
///
/// Keeps the newest snapshot and its predecessor as a fallback. Earlier snapshots become sparser with their age, so
/// that the distance from any earlier state to the nearest snapshot before it is proportional to its age; their number
/// is about the number of doublings of the history. Also keeps the snapshot that a compacted log begins with.
///
/// A snapshot between the first and the last two is kept only if at least as many bytes of log precede it, from the
/// kept snapshot before it on. Reading it then replaces the folding of at least as many bytes, and all snapshots
/// between take at most as much space as the log.
package enum SnapshotRetention {
    /// A file of the log: a snapshot or a segment.
    package struct File: Sendable {
        /// The first record of a segment, or the first record that a snapshot does not include.
        let sequence: UInt64
        let bytes: UInt64

        package init(sequence: UInt64, bytes: UInt64) {
            self.sequence = sequence
            self.bytes = bytes
        }
    }

    /// Returns the snapshots that need not be kept.
    ///
    /// - Parameters:
    ///   - snapshots: The existing snapshots, ascending.
    ///   - segments: The segments of the log, ascending. Each snapshot begins one, or follows the last.
    package static func superfluous(_ snapshots: [File], in segments: [File]) -> [UInt64] {
        let first = segments.first?.sequence ?? 1
        let large = larger(snapshots, thanLogIn: segments, first)
        let rest = snapshots.map(\.sequence).filter { !large.contains($0) }
        return (large + superfluous(rest, first: first)).sorted()
    }

    /// Returns the snapshots that are larger than the log between them and the kept snapshot before them.
    private static func larger(
        _ snapshots: [File], thanLogIn segments: [File], _ first: UInt64
    ) -> [UInt64] {
        var larger: [UInt64] = []
        // The log since the last kept snapshot.
        var log: UInt64 = 0
        var next = 0
        for (place, snapshot) in snapshots.dropLast(2).enumerated() {
            while next < segments.count, segments[next].sequence < snapshot.sequence {
                log += segments[next].bytes
                next += 1
            }
            let isBeginning = first > 1 && place == 0
            if isBeginning || log >= snapshot.bytes { log = 0 } else { larger.append(snapshot.sequence) }
        }
        return larger
    }

    /// Returns the snapshots that need not be kept.
    ///
    /// - Parameters:
    ///   - sequences: The existing snapshots, ascending.
    ///   - first: The first record of the log.
    package static func superfluous(_ sequences: [UInt64], first: UInt64) -> [UInt64] {
        guard let newest = sequences.last else { return [] }
        var kept = sequences
        var superfluous: [UInt64] = []
        var place = first > 1 ? 1 : 0
        // The last two are kept.
        while place + 2 < kept.count {
            let before = place == 0 ? first : kept[place - 1]
            let next = kept[place + 1]
            if next - min(before, next) <= newest - next {
                superfluous.append(kept.remove(at: place))
                // Its predecessor may have become superfluous.
                place = max(place - 1, first > 1 ? 1 : 0)
            } else {
                place += 1
            }
        }
        return superfluous
    }
}
