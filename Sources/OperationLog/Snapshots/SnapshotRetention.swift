/// The retention policy for snapshots.
///
/// Keeps the newest snapshot and its predecessor as a fallback. Earlier snapshots become sparser with their age, so
/// that the distance from any earlier state to the nearest snapshot before it is proportional to its age; their number
/// is about the number of doublings of the history. Also keeps the snapshot that a compacted log begins with.
package enum SnapshotRetention {
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
