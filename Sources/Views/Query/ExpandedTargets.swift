import Operations
package import SyncCore

/// The targets of a navigation property for several source entities. A target of several sources is contained once.
package struct ExpandedTargets {
    /// The targets without duplicates, in any order.
    package internal(set) var rows: [EntityRow] = []
    /// For each source, the indexes of its targets in ``rows``.
    package internal(set) var targets: [[Int]]
    /// For each source, the number of targets without `$skip` and `$top`.
    package internal(set) var counts: [Int64]

    init(sources: Int) {
        targets = Array(repeating: [], count: sources)
        counts = Array(repeating: 0, count: sources)
    }

    /// Sorts the targets of each source by entity ID. Usually they are in this order already.
    mutating func sort() {
        for source in targets.indices where targets[source].count > 1 {
            let places = targets[source]
            let isSorted = zip(places, places.dropFirst()).allSatisfy { rows[$0].id < rows[$1].id }
            if !isSorted { targets[source].sort { rows[$0].id < rows[$1].id } }
        }
    }
}
