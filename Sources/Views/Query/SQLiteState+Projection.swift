import EDM
import ODataWire
import Operations
import SyncCore

extension SQLiteState {
    /// What `read` makes of each row of the statement that `build` makes with a compiler for the set. The set's table is
    /// `t0` in it.
    ///
    /// Throws ``EvaluationError``: with `unsupported` for a query that has to be answered in memory, with another code
    /// where the evaluation fails.
    private func rows<Found>(
        of set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?, _ read: (Row) throws -> Found,
        by build: (inout SQLCompiler, _ condition: SQLText, _ table: String) throws -> SQLText
    ) throws -> [Found] {
        let relationships = try relationshipNumbers()
        guard let model,
            let scope = EntityTableScope(
                set, alias: "t0", model: model, layouts: layouts, relationships: relationships)
        else {
            throw EvaluationError(.unsupported, "\(set.name) has no table.")
        }
        let functions = try queryFunctions(model)
        var compiler = SQLCompiler(scope, functions: functions, now: now, aliases: options.aliases)
        let condition = try compiler.condition(of: options, in: set)
        let text = try build(&compiler, condition, try layout(set.name).table)
        var found: [Found] = []
        do {
            try connection.each(text.sql, text.values) { found.append(try read($0)) }
        } catch let error as SQLiteError {
            // The evaluator refused a row: no fault of the file.
            if let failure = functions.takeFailure() { throw failure }
            throw Self.queryError(error)
        }
        return found
    }

    /// What expressions see of the entities of a set that pass `$filter`, as far as some paths go, in the order of their
    /// entity IDs. Throws `unsupported` where a path leads to what has no column.
    func scopes(
        of set: EntitySet, _ paths: [[String]], _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> [EvaluationScope] {
        var projection: RowProjection?
        return try rows(of: set, options, now: now) {
            projection?.scope($0)
        } by: { compiler, condition, table in
            let columns = try RowProjection(paths, of: set.entityType, compiler.functions.model, &compiler)
            projection = columns
            let terms = SQLText.joined(columns.terms + [SQLText("t0.entity")], by: ", ")
            return "SELECT " + terms + " FROM \(table) AS t0 WHERE " + condition + " ORDER BY t0.entity"
        }.compactMap { $0 }
    }

    /// The entities that a navigation property leads to from one entity, by the query's options; and how many they are
    /// without `$skip` and `$top`.
    func reached(
        from entity: EntityID, along end: Navigation, in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?
    ) throws -> (rows: () throws -> [EntityRow], count: () throws -> Int64) {
        let (near, far) = end.relationship.isForward ? ("first", "second") : ("second", "first")
        // Without its name SQLite takes the primary key, and reads the whole relationship.
        let index = end.relationship.isForward ? "" : " INDEXED BY links_by_second"
        let reached = SQLText(
            "t0.entity IN (SELECT \(far) FROM links\(index) WHERE relationship = ? AND \(near) = ? "
                + "AND in_local <> 0) AND ",
            [try relationshipNumbers().number(of: end.relationship.name), integer(entity)])
        let columns = Self.rowColumns.split(separator: ", ").map { "t0." + $0 }.joined(separator: ", ")
        let count = {
            try self.rows(of: set, options, now: now) {
                $0.integer(0)
            } by: { _, condition, table in
                "SELECT COUNT(*) FROM \(table) AS t0 WHERE " + reached + condition
            }.first ?? 0
        }
        let rows = {
            try self.rows(of: set, options, now: now) {
                try self.entityRow($0, set: set.name)
            } by: { compiler, condition, table in
                let position = try compiler.position(of: options, entity: "t0.entity")
                let terms = try compiler.order(of: options) + [SQLText("t0.entity")]
                // SQLite takes a negative limit for none.
                let limit = SQLText(" LIMIT ? OFFSET ?", [.integer(options.top ?? -1), .integer(options.skip ?? 0)])
                return "SELECT \(columns) FROM \(table) AS t0 WHERE " + reached + condition
                    + (position.map { " AND " + $0 } ?? SQLText("")) + " ORDER BY " + SQLText.joined(terms, by: ", ")
                    + limit
            }
        }
        return (rows, count)
    }
}
