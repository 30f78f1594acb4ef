import EDM
import ODataQuery
import Operations
import SyncCore

/// The targets of a navigation property for many entities, by one statement.
extension EntityQueries {
    /// Returns the targets that match the options, in their order, from `$skip` on and at most `$top` for each source.
    ///
    /// Throws as ``entities(in:_:now:)`` does.
    ///
    /// - Parameter set: The only set that can contain the targets.
    func targets(
        of sources: [EntityID], along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> ExpandedTargets {
        var compiler = try compiler(for: set, options, now)
        let condition = try compiler.condition(of: options, in: set)
        var text = "SELECT \(Self.selectedColumns), source.key " + (try way(from: sources, end, set)) + condition
        // Without `$orderby`, the rows have the order of the links, which is that of the entity IDs.
        if !options.orderBy.isEmpty {
            let terms = [SQLText("source.key")] + (try compiler.order(of: options, entity: "t0.entity"))
            text = text + " ORDER BY " + SQLText.joined(terms, by: ", ")
        }
        var found = ExpandedTargets(sources: sources.count)
        let skip = Int(clamping: max(0, options.skip ?? 0))
        let last = Int(clamping: max(0, options.top ?? .max)).addingReportingOverflow(skip)
        let limit = last.overflow ? .max : last.partialValue
        var targets = IDTable<EntityRow>(minimumCapacity: sources.count)
        var page = PackedPage()
        var form = rowTables.shapes.last
        form.use(set.name, rowTables)
        try each(text) { row in
            let source = Int(row.integer(Self.selectedColumnCount))
            let number = Int(found.counts[source])
            found.counts[source] += 1
            guard number >= skip, number < limit else { return }
            let id = row.entity(0)
            if let place = targets.place(of: id) {
                found.append(place, to: source)
            } else {
                found.append(targets.count, to: source)
                targets.updateValue(try form.entity(row, only: nil, rowTables, &page), for: id)
            }
        }
        rowTables.shapes.last = form
        found.rows = targets.values
        if options.orderBy.isEmpty { found.sort() }
        return found
    }

    /// Returns the number of targets for each source, without `$skip` and `$top`.
    func counts(
        of sources: [EntityID], along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> [Int64] {
        var compiler = try compiler(for: set, options, now)
        let condition = try compiler.condition(of: options, in: set)
        var counts = [Int64](repeating: 0, count: sources.count)
        try each("SELECT source.key, COUNT(*) " + (try way(from: sources, end, set)) + condition + " GROUP BY 1") {
            counts[Int($0.integer(0))] = $0.integer(1)
        }
        return counts
    }

    /// Returns the joins from the sources to the targets, whose table is `t0`, up to the place for a condition on
    /// these.
    private func way(from sources: [EntityID], _ end: Navigation, _ set: EntitySet) throws -> SQLText {
        let (near, far) = end.relationship.isForward ? ("first", "second") : ("second", "first")
        // CROSS JOIN makes SQLite keep the order of the tables: there are few sources and many links. Without
        // statistics it would use the primary key also for links from their second end, and read the whole relationship
        // for each source.
        let index = end.relationship.isForward ? "" : " INDEXED BY links_by_second"
        let table = try rowTables.layout(set.name).table
        return SQLText(
            "FROM json_each(?) AS source CROSS JOIN links\(index) ON links.relationship = \(StoredLinks.numberOfRelationship) "
                + "AND links.\(near) = source.value AND links.in_local <> 0 "
                + "CROSS JOIN \(table) AS t0 ON t0.entity = links.\(far) WHERE ",
            [Self.idList(sources), .text(end.relationship.name)])
    }
}
