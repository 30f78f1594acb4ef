package import EDM
package import ODataWire
package import Operations
package import SyncCore

extension SQLiteState {
    /// What is read of the entities that a query selects.
    enum SelectionForm: Hashable { case ids, rows, count }

    /// What the statement of a selection depends on; see ``ConditionTemplate`` for the filter.
    struct SelectionKey: Hashable {
        let form: SelectionForm
        let set: String
        let filter: Expression?
        let search: SearchExpression?
        /// Says where to search; otherwise empty.
        let select: [SelectItem]
        let orderBy: [OrderItem]
        let compute: [ComputeItem]
    }

    /// The entities of a set that pass `$filter`, in the order of `$orderby` and then of their entity IDs, from `$skip`
    /// on and as many as `$top` says; worked out by SQLite.
    ///
    /// Throws ``EvaluationError``: with `unsupported` for a query that has to be answered in memory, with another code
    /// where the evaluation fails, as it does there. Throws ``StateError`` where the views cannot be read.
    package func entities(
        in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil
    ) throws -> [EntityID] {
        try found(selection(.ids, set, options, now)) { EntityID(rawValue: UInt64(bitPattern: $0.integer(0))) }
    }

    /// The same as whole rows, read by the same statement.
    package func rows(in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil) throws -> [EntityRow] {
        let name = set.name
        return try found(selection(.rows, set, options, now)) { try entityRow($0, set: name) }
    }

    /// How many entities of a set pass `$filter`; throws as ``entities(in:_:now:)`` does.
    package func count(in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil) throws -> Int64 {
        try found(selection(.count, set, options, now)) { $0.integer(0) }.first ?? 0
    }

    /// ``rowColumns`` of the table that a statement has as `t0`.
    static let selectedColumns = rowColumns.split(separator: ", ").map { "t0." + $0 }.joined(separator: ", ")

    static let selectedColumnCount = rowColumns.split(separator: ", ").count

    /// So many statements of selections are remembered.
    private static var selectionLimit: Int { 256 }

    /// The statement of a selection: compiled, or as it was compiled for other values.
    private func selection(
        _ form: SelectionForm, _ set: EntitySet, _ options: QueryOptions, _ now: GlobalDateTime?
    ) throws -> SQLText {
        // Pages are asked for once, and aliases have a meaning in one query only.
        let isKept = options.skipToken == nil && options.aliases.isEmpty
        let template = isKept ? ConditionTemplate(options.filter) : ConditionTemplate(nil)
        let key = SelectionKey(
            form: form, set: set.name, filter: template.condition, search: options.search,
            select: options.search == nil ? [] : options.select, orderBy: options.orderBy, compute: options.compute)
        var text: SQLText
        if isKept, let known = selections[key] {
            text = known.filled(with: template.parameters)
        } else {
            var options = options
            if isKept { options.filter = template.condition }
            var compiler = try compiler(for: set, options, now, parameters: template.parameters)
            text = try Self.statement(form, set, options, try layout(set.name).table, &compiler)
            if isKept, !compiler.isPassing {
                if selections.count >= Self.selectionLimit { selections = [:] }
                selections[key] = text
            }
        }
        if form != .count { text = text + Self.limit(options) }
        return text
    }

    private static func statement(
        _ form: SelectionForm, _ set: EntitySet, _ options: QueryOptions, _ table: String, _ compiler: inout SQLCompiler
    ) throws(EvaluationError) -> SQLText {
        var condition = try compiler.condition(of: options, in: set)
        if form == .count { return "SELECT COUNT(*) FROM \(table) AS t0 WHERE " + condition }
        let terms = try compiler.order(of: options) + [SQLText("t0.entity")]
        if let position = try compiler.position(of: options, entity: "t0.entity") {
            condition = condition + " AND " + position
        }
        return "SELECT \(form == .ids ? "t0.entity" : selectedColumns) FROM \(table) AS t0 WHERE " + condition
            + " ORDER BY " + SQLText.joined(terms, by: ", ")
    }

    /// SQLite takes a negative limit for none; one that was asked for is no entity.
    static func limit(_ options: QueryOptions) -> SQLText {
        SQLText(" LIMIT ? OFFSET ?", [.integer(options.top.map { max(0, $0) } ?? -1), .integer(options.skip ?? 0)])
    }

    // MARK: Statements

    /// For a statement that has the set's table as `t0`.
    func compiler(
        for set: EntitySet, _ options: QueryOptions, _ now: GlobalDateTime?, parameters: [Value] = []
    ) throws -> SQLCompiler {
        guard let model, let scope = EntityTableScope(set, alias: "t0", model: model, layouts: layouts) else {
            throw EvaluationError(.unsupported, "\(set.name) has no table.")
        }
        // The function `tl_standing` asks it.
        try queue.load()
        return SQLCompiler(
            scope, functions: try queryFunctions(model), now: now, aliases: options.aliases, parameters: parameters)
    }

    /// What `read` makes of each row of a compiled statement.
    func found<Found>(_ text: SQLText, _ read: (Row) throws -> Found) throws -> [Found] {
        var found: [Found] = []
        try each(text) { found.append(try read($0)) }
        return found
    }

    func each(_ text: SQLText, _ body: (Row) throws -> Void) throws {
        do {
            try connection.each(text.sql, text.values, body)
        } catch let error as SQLiteError {
            // The evaluator refused a row: no fault of the file.
            for case let functions as SQLFunctions in connection.registrations {
                if let failure = functions.takeFailure() { throw failure }
            }
            throw Self.queryError(error)
        }
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
            // Statements name what the older ones knew.
            selections = [:]
            return functions
        } catch {
            throw Self.stateError(error)
        }
    }
}
