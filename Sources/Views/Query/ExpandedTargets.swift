import Operations
public import SyncCore

/// What a navigation property leads to from some entities. An entity that several lead to is there once.
public struct ExpandedTargets {
    /// Each once, in any order.
    public internal(set) var rows: [EntityRow] = []
    /// For each source, the places of its targets among ``rows``.
    public internal(set) var targets: [[Int]]
    /// For each source, how many there are without `$skip` and `$top`.
    public internal(set) var counts: [Int64]

    init(sources: Int) {
        targets = Array(repeating: [], count: sources)
        counts = Array(repeating: 0, count: sources)
    }

    /// Brings the targets of each source into the ascending order of their entity IDs, in which they nearly always are.
    mutating func sort() {
        for source in targets.indices where targets[source].count > 1 {
            let places = targets[source]
            let isSorted = zip(places, places.dropFirst()).allSatisfy { rows[$0].id < rows[$1].id }
            if !isSorted { targets[source].sort { rows[$0].id < rows[$1].id } }
        }
    }
}
