package import EDM
package import ODataWire
package import Operations
package import SyncCore

extension SQLiteState {
    /// The entities of a set that pass `$filter`, in the order of `$orderby` and then of their entity IDs, from `$skip`
    /// on and as many as `$top` says; worked out by SQLite.
    ///
    /// Throws ``EvaluationError``: with `unsupported` for a query that has to be answered in memory, with another code
    /// where the evaluation fails, as it does there. Throws ``StateError`` where the views cannot be read.
    package func entities(
        in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil
    ) throws -> [EntityID] {
        try search(set, options, now) {
            EntityID(rawValue: UInt64(bitPattern: $0.integer(0)))
        } by: { (condition, compiler, table) throws(EvaluationError) in
            try Self.selection("t0.entity", condition, &compiler, table, options)
        }
    }

    /// The same as whole rows, read by the same statement.
    package func rows(in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil) throws -> [EntityRow] {
        let columns = Self.rowColumns.split(separator: ", ").map { "t0." + $0 }.joined(separator: ", ")
        return try search(set, options, now) {
            try entityRow($0, set: set.name)
        } by: { (condition, compiler, table) throws(EvaluationError) in
            try Self.selection(columns, condition, &compiler, table, options)
        }
    }

    private static func selection(
        _ columns: String, _ condition: SQLText, _ compiler: inout SQLCompiler, _ table: String, _ options: QueryOptions
    ) throws(EvaluationError) -> SQLText {
        let terms = try compiler.order(of: options) + [SQLText("t0.entity")]
        var condition = condition
        if let position = try compiler.position(of: options, entity: "t0.entity") {
            condition = condition + " AND " + position
        }
        // SQLite takes a negative limit for none.
        let limit = SQLText(" LIMIT ? OFFSET ?", [.integer(options.top ?? -1), .integer(options.skip ?? 0)])
        return "SELECT \(columns) FROM \(table) AS t0 WHERE " + condition + " ORDER BY "
            + SQLText.joined(terms, by: ", ") + limit
    }

    /// How many entities of a set pass `$filter`; throws as ``entities(in:_:now:)`` does.
    package func count(in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil) throws -> Int64 {
        try search(set, options, now) {
            $0.integer(0)
        } by: { (condition, _, table) throws(EvaluationError) in
            "SELECT COUNT(*) FROM \(table) AS t0 WHERE " + condition
        }.first ?? 0
    }

    private func search<Found>(
        _ set: EntitySet, _ options: QueryOptions, _ now: GlobalDateTime?, _ read: (Row) throws -> Found,
        by statement: (SQLText, inout SQLCompiler, String) throws(EvaluationError) -> SQLText
    ) throws -> [Found] {
        guard let model else {
            throw EvaluationError(.unsupported, "Such a query cannot be answered in SQL.")
        }
        let layout = try layout(set.name)
        let functions = try queryFunctions(model)
        let relationships = try relationshipNumbers()
        guard
            let scope = EntityTableScope(
                set, alias: "t0", model: model, layouts: layouts, relationships: relationships)
        else {
            throw EvaluationError(.unsupported, "\(set.name) has no table.")
        }
        var compiler = SQLCompiler(scope, functions: functions, now: now, aliases: options.aliases)
        let condition = try compiler.condition(of: options, in: set)
        let text = try statement(condition, &compiler, layout.table)
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

    /// A statement beyond one of SQLite's limits is not damage but a query to be answered in memory: 18 is SQLITE_TOOBIG, 1
    /// SQLITE_ERROR, which it says of a table or column that should be there too.
    static func queryError(_ error: SQLiteError) -> any Error {
        guard error.code == 18 || error.code == 1 && !error.message.hasPrefix("no such") else {
            return stateError(error)
        }
        return EvaluationError(.unsupported, "Such a query cannot be answered in SQL: \(error.message).")
    }

    /// The functions of the connection, registered when they are first asked for and whenever the model has changed.
    func queryFunctions(_ model: EntityDataModel) throws -> SQLFunctions {
        for case let functions as SQLFunctions in connection.registrations where functions.model === model {
            return functions
        }
        do throws(SQLiteError) {
            // The older ones may be let go of once SQLite calls them no longer.
            let functions = try SQLFunctions.register(on: connection, model: model)
            connection.registrations.removeAll { $0 is SQLFunctions && $0 !== functions }
            return functions
        } catch {
            throw Self.stateError(error)
        }
    }
}
