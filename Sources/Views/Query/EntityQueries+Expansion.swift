import EDM
import ODataQuery
import Operations
import SyncCore

/// The targets of a navigation property for many entities, by one statement.
extension EntityQueries {
    /// Calls `body` with each target that matches the options. Returns their order, from `$skip` on and at most `$top`
    /// for each source.
    ///
    /// Throws as ``entities(in:_:now:)`` does.
    ///
    /// - Parameter set: The only set that can contain the targets.
    func targets(
        of sources: [EntityID], along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?,
        to body: (consuming EntityRow) throws -> Void
    ) throws -> ExpandedTargets {
        var compiler = try compiler(for: set, options, now)
        let condition = try compiler.condition(of: options, in: set)
        let (number, way) = try way(from: sources, end, set)
        var text = "SELECT \(Self.selectedColumns), " + number + way + condition
        // Without `$orderby`, the rows have the order of the links, which is that of the entity IDs.
        if !options.orderBy.isEmpty {
            let terms = [number] + (try compiler.order(of: options, entity: "t0.entity"))
            text = text + " ORDER BY " + SQLText.joined(terms, by: ", ")
        }
        var found = ExpandedTargets(sources: sources.count)
        let skip = Int(clamping: max(0, options.skip ?? 0))
        let last = Int(clamping: max(0, options.top ?? .max)).addingReportingOverflow(skip)
        let limit = last.overflow ? .max : last.partialValue
        var known = IDTable<Void>(minimumCapacity: sources.count)
        var next = 0
        var page = PackedPage()
        var form = rowTables.shapes.last
        form.use(set.name, rowTables)
        try each(text) { row in
            let source = Int(row.integer(Self.selectedColumnCount))
            let number = Int(found.counts[source])
            found.counts[source] += 1
            guard number >= skip, number < limit else { return }
            let place = known.insert(row.entity(0))
            found.append(place, to: source)
            guard place == next else { return }
            next += 1
            try body(form.entity(row, only: nil, rowTables, &page))
        }
        rowTables.shapes.last = form
        if options.orderBy.isEmpty { found.sort(by: Array(known.ids)) }
        return found
    }

    /// Returns the number of targets for each source, without `$skip` and `$top`.
    func counts(
        of sources: [EntityID], along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> [Int64] {
        var compiler = try compiler(for: set, options, now)
        let condition = try compiler.condition(of: options, in: set)
        var counts = [Int64](repeating: 0, count: sources.count)
        let (number, way) = try way(from: sources, end, set)
        try each("SELECT " + number + ", COUNT(*)" + way + condition + " GROUP BY 1") {
            counts[Int($0.integer(0))] = $0.integer(1)
        }
        return counts
    }

    /// Returns the number of a target's source, and the joins from the sources to the targets, whose table is `t0`, up to
    /// the place for a condition on these.
    private func way(
        from sources: [EntityID], _ end: Navigation, _ set: EntitySet
    ) throws -> (number: SQLText, way: SQLText) {
        let (near, far) = end.relationship.isForward ? ("first", "second") : ("second", "first")
        // CROSS JOIN makes SQLite keep the order of the tables: there are few sources and many links. Without
        // statistics it would use the primary key also for links from their second end, and read the whole relationship
        // for each source.
        let index = end.relationship.isForward ? "" : " INDEXED BY links_by_second"
        let links = "links.relationship = \(StoredLinks.numberOfRelationship) AND links.\(near)"
        let targets = " CROSS JOIN \(try rowTables.layout(set.name).table) AS t0 ON t0.entity = links.\(far) WHERE "
        let name = SQLValue.text(end.relationship.name)
        // Rows that were downloaded together usually have consecutive numbers. Their links are next to each other.
        if let range = Self.consecutive(sources) {
            let (first, last) = (SQLValue(range.lowerBound), SQLValue(range.upperBound))
            return (
                SQLText("links.\(near) - ?", [first]),
                SQLText(
                    " FROM links\(index)\(targets)\(links) BETWEEN ? AND ? AND links.in_local <> 0 AND ",
                    [name, first, last])
            )
        }
        return (
            SQLText("source.key"),
            SQLText(
                " FROM json_each(?) AS source CROSS JOIN links\(index) ON \(links) = source.value "
                    + "AND links.in_local <> 0\(targets)", [Self.idList(sources), name])
        )
    }

    /// Returns the entities as a range, if each has the number after that of the one before.
    private static func consecutive(_ ids: [EntityID]) -> ClosedRange<UInt64>? {
        guard let first = ids.first?.rawValue, let last = ids.last?.rawValue, last <= Int64.max, first <= last,
            ids.indices.allSatisfy({ ids[$0].rawValue &- first == UInt64($0) })
        else { return nil }
        return first...last
    }
}
