package import SyncCore

/// The targets of a navigation property for several source entities. A target of several sources is contained once.
package struct ExpandedTargets {
    /// The targets without duplicates, in any order; empty if they are delivered.
    package internal(set) var rows: [EntityRow] = []
    /// Whether the targets were passed to the closure of the call, in the order of their indexes.
    package internal(set) var isDelivered = false
    /// The indexes of the targets, those of one source after those of the previous one.
    private var places: [Int] = []
    /// The end of the targets of each source in ``places``, up to the last source that has any.
    private var ends: [Int] = []
    /// For each source, the number of targets without `$skip` and `$top`.
    package internal(set) var counts: [Int64]

    init(sources: Int) { counts = Array(repeating: 0, count: sources) }

    /// Returns the indexes of the targets of a source among all targets.
    package func targets(of source: Int) -> ArraySlice<Int> {
        source < ends.count ? places[range(of: source)] : []
    }

    /// Returns the range of a source in ``places``. The source must be one in ``ends``.
    private func range(of source: Int) -> Range<Int> { (source == 0 ? 0 : ends[source - 1])..<ends[source] }

    /// Adds a target after the last one of its source. O(1) if the sources are in ascending order, as they usually are.
    ///
    /// - Parameter place: The index of the target.
    mutating func append(_ place: Int, to source: Int) {
        while ends.count <= source { ends.append(places.count) }
        if ends[source] == places.count { places.append(place) } else { places.insert(place, at: ends[source]) }
        for later in source..<ends.count { ends[later] += 1 }
    }

    /// Sorts the targets of each source by entity ID. Usually they are in this order already.
    ///
    /// - Parameter ids: The IDs of the targets, by their indexes.
    mutating func sort(by ids: [UInt64]) {
        for source in ends.indices {
            let range = range(of: source)
            if range.count < 2 { continue }
            let isSorted = range.dropFirst().allSatisfy { ids[places[$0 - 1]] < ids[places[$0]] }
            if !isSorted { places.replaceSubrange(range, with: places[range].sorted { ids[$0] < ids[$1] }) }
        }
    }
}
