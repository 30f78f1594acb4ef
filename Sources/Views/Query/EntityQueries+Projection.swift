import EDM
import ODataQuery
import Operations
import SyncCore

extension EntityQueries {
    /// Returns the entities of a set that match `$filter`, with the properties of some paths, in the order of their
    /// entity IDs. Throws `unsupported` if the property of a path has no column.
    func scopes(
        of set: EntitySet, _ paths: [[String]], _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> [EvaluationScope] {
        var compiler = try compiler(for: set, options, now)
        let condition = try compiler.condition(of: options, in: set)
        let columns = try RowProjection(paths, of: set.entityType, compiler.functions.model, &compiler)
        let terms = SQLText.joined(columns.terms + [SQLText("t0.entity")], by: ", ")
        let table = try rowTables.layout(set.name).table
        return try found("SELECT " + terms + " FROM \(table) AS t0 WHERE " + condition + " ORDER BY t0.entity") {
            columns.scope($0)
        }
    }

    /// Calls `body` with each target of a navigation property of one entity, in the order of their IDs.
    func forEachReached(
        from entity: EntityID, along end: Navigation, in set: EntitySet, _ body: (consuming EntityRow) throws -> Void
    ) throws {
        let form = ProjectionKey(set: set.name, isForward: end.relationship.isForward)
        let sql: String
        if let known = reachedTexts[form] {
            sql = known
        } else {
            sql = "SELECT \(Self.selectedColumns) " + (try reached(along: end, in: set)) + "1 ORDER BY " + form.farEnd
            reachedTexts[form] = sql
        }
        try forEachRow(of: SQLText(sql, [.text(end.relationship.name), SQLValue(entity)]), in: set, body)
    }

    /// The properties that determine the statement.
    struct ProjectionKey: Hashable {
        let set: String
        let isForward: Bool

        var farEnd: String { isForward ? "links.second" : "links.first" }
    }

    /// Returns `FROM … WHERE … AND ` for the targets as `t0`. The parameters are the relationship's name and the
    /// entity.
    private func reached(along end: Navigation, in set: EntitySet) throws(StateError) -> String {
        let (near, far) = end.relationship.isForward ? ("first", "second") : ("second", "first")
        // Names the index, because SQLite would otherwise use the primary key and read the whole relationship.
        let index = end.relationship.isForward ? "" : " INDEXED BY links_by_second"
        // The links are in the order of their targets, which therefore need not be sorted.
        return
            "FROM links\(index) CROSS JOIN \(try rowTables.layout(set.name).table) AS t0 ON t0.entity = links.\(far) "
            + "WHERE links.relationship = \(StoredLinks.numberOfRelationship) AND links.\(near) = ? AND links.in_local <> 0 AND "
    }

    /// Returns the targets of a navigation property of one entity that match the query's options, and their number
    /// without `$skip` and `$top`.
    func reached(
        from entity: EntityID, along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> (rows: () throws -> [EntityRow], count: () throws -> Int64) {
        var compiler = try compiler(for: set, options, now)
        let reached =
            SQLText(try self.reached(along: end, in: set), [.text(end.relationship.name), SQLValue(entity)])
            + (try compiler.condition(of: options, in: set))
        let terms = try compiler.order(
            of: options, entity: end.relationship.isForward ? "links.second" : "links.first")
        let position = try compiler.position(of: options, entity: "t0.entity")
        let rows = {
            var found: [EntityRow] = []
            try self.forEachRow(
                of: "SELECT \(Self.selectedColumns) " + reached + (position.map { " AND " + $0 } ?? SQLText(""))
                    + " ORDER BY " + SQLText.joined(terms, by: ", ") + Self.limit(options), in: set
            ) { found.append($0) }
            return found
        }
        let count = { try self.found("SELECT COUNT(*) " + reached) { $0.integer(0) }.first ?? 0 }
        return (rows, count)
    }
}
