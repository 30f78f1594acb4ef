/// Which snapshots are worth their place on disk.
///
/// The newest and the one before it: to begin with, and to fall back upon. Behind these fewer and fewer, so that any earlier
/// state is made from one that is not much farther from it than the two are from now; about as many as the history has
/// doublings. And the one that a compacted log begins with.
package enum SnapshotSpacing {
    /// - Parameters:
    ///   - sequences: of the snapshots that there are, ascending.
    ///   - first: the first record that the log has.
    package static func superfluous(_ sequences: [UInt64], first: UInt64) -> [UInt64] {
        guard let newest = sequences.last else { return [] }
        var kept = sequences
        var superfluous: [UInt64] = []
        var place = first > 1 ? 1 : 0
        // The last two stay.
        while place + 2 < kept.count {
            let before = place == 0 ? first : kept[place - 1]
            let next = kept[place + 1]
            if next - min(before, next) <= newest - next {
                superfluous.append(kept.remove(at: place))
                // Its neighbour may go now as well.
                place = max(place - 1, first > 1 ? 1 : 0)
            } else {
                place += 1
            }
        }
        return superfluous
    }
}
