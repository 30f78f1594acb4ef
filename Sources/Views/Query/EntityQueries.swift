package import EDM
package import ODataQuery
package import Operations
package import SyncCore

/// Queries that SQLite evaluates over the tables of the entity sets.
///
/// Not `Sendable`: they belong to the state's connection.
package final class EntityQueries: StatementRunner {
    let rowTables: RowTables
    private let queue: QueueTable
    let entities: EntitySetRanges
    /// The lookups by key, by set; nil for a set without such a lookup. See ``row(in:key:)``.
    var pointReads: [String: PointRead?] = [:]
    /// Compiled statements of queries over sets.
    private var selections: [SelectionKey: SQLText] = [:]
    /// Statements for the entities that are linked to one entity.
    var reachedTexts: [ProjectionKey: String] = [:]

    init(_ rowTables: RowTables, _ entities: EntitySetRanges, _ queue: QueueTable) {
        self.rowTables = rowTables
        self.entities = entities
        self.queue = queue
    }

    package var connection: Connection { rowTables.connection }

    /// Discards the statements, which refer to the tables of a model.
    func forgetStatements() {
        pointReads = [:]
        selections = [:]
        reachedTexts = [:]
    }

    /// The part of the selected entities that a query reads.
    enum SelectionForm: Hashable { case ids, rows, count }

    /// The properties of a query that determine its statement; see ``ConditionTemplate`` for the filter.
    struct SelectionKey: Hashable {
        let form: SelectionForm
        let set: String
        let filter: Expression?
        let search: SearchExpression?
        /// The properties to search; empty without a search.
        let select: [SelectItem]
        let orderBy: [OrderItem]
        let compute: [ComputeItem]
    }

    /// Returns the entities of a set that match `$filter`, in the order of `$orderby` and then of their entity IDs, in
    /// the direction of the last item. Starts at `$skip` and returns at most `$top`. SQLite evaluates the query.
    ///
    /// - Throws: ``EvaluationError`` with `unsupported` for a query that has to be answered in memory, or with another
    ///   code if the evaluation fails, as it does in memory. ``StateError`` if the views cannot be read.
    package func entities(
        in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil
    ) throws -> [EntityID] {
        try found(selection(.ids, set, options, now)) { $0.entity(0) }
    }

    /// Returns the entities as rows, read by the same statement.
    ///
    /// - Parameter subset: The properties that are needed, or nil for all. The rows may have more.
    package func rows(
        in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil, only subset: PropertySubset? = nil
    ) throws -> [EntityRow] {
        var rows: [EntityRow] = []
        rows.reserveCapacity(Self.expectedCount(options))
        try forEachRow(in: set, options, now: now, only: subset) { rows.append($0) }
        return rows
    }

    /// Calls `body` with each of the entities as a row, in their order, until it throws.
    func forEachRow(
        in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime?, only subset: PropertySubset?,
        _ body: (consuming EntityRow) throws -> Void
    ) throws {
        try forEachRow(of: selection(.rows, set, options, now), in: set, only: subset, body)
    }

    /// Calls `body` with each entity that a statement with ``selectedColumns`` finds.
    func forEachRow(
        of text: SQLText, in set: EntitySet, only subset: PropertySubset? = nil,
        _ body: (consuming EntityRow) throws -> Void
    ) throws {
        var page = PackedPage()
        var form = rowTables.shapes.last
        form.use(set.name, rowTables)
        try each(text) { try body(form.entity($0, only: subset, rowTables, &page)) }
        rowTables.shapes.last = form
    }

    /// Returns the capacity for the results of a query, because a growing array would move them several times. Without
    /// `$top`, it is that for a few entities, such as those that are linked to one.
    package static func expectedCount(_ options: QueryOptions) -> Int { Int(min(max(0, options.top ?? 8), 1_001)) }

    /// Returns the number of entities of a set that match `$filter`. Throws as ``entities(in:_:now:)`` does.
    package func count(in set: EntitySet, _ options: QueryOptions, now: GlobalDateTime? = nil) throws -> Int64 {
        try found(selection(.count, set, options, now)) { $0.integer(0) }.first ?? 0
    }

    /// The ``RowTables/columns`` of the table `t0`.
    static let selectedColumns = RowTables.columns.split(separator: ", ").map { "t0." + $0 }.joined(separator: ", ")

    static let selectedColumnCount = RowTables.columns.split(separator: ", ").count

    /// The maximum number of cached statements.
    private static var selectionLimit: Int { 256 }

    /// Returns the statement of a selection, compiled now or cached with other values.
    private func selection(
        _ form: SelectionForm, _ set: EntitySet, _ options: QueryOptions, _ now: GlobalDateTime?
    ) throws -> SQLText {
        // Each page is read once, and aliases are valid in one query only.
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
            text = try Self.statement(form, set, options, try rowTables.layout(set.name).table, &compiler)
            if form != .count { text.sql += Self.limit(options).sql }
            if isKept, !compiler.isPassing {
                if selections.count >= Self.selectionLimit { selections = [:] }
                selections[key] = text
            }
        }
        if form != .count { text.arguments += Self.limit(options).arguments }
        return text
    }

    private static func statement(
        _ form: SelectionForm, _ set: EntitySet, _ options: QueryOptions, _ table: String, _ compiler: inout SQLCompiler
    ) throws(EvaluationError) -> SQLText {
        var condition = try compiler.condition(of: options, in: set)
        if form == .count { return "SELECT COUNT(*) FROM \(table) AS t0 WHERE " + condition }
        let terms = try compiler.order(of: options, entity: "t0.entity")
        if let position = try compiler.position(of: options, entity: "t0.entity") {
            condition = condition + " AND " + position
        }
        return "SELECT \(form == .ids ? "t0.entity" : selectedColumns) FROM \(table) AS t0 WHERE " + condition
            + " ORDER BY " + SQLText.joined(terms, by: ", ")
    }

    /// Returns the limit of a query. A negative limit in SQLite is no limit; in a query it selects no entity.
    static func limit(_ options: QueryOptions) -> SQLText {
        SQLText(" LIMIT ? OFFSET ?", [.integer(options.top.map { max(0, $0) } ?? -1), .integer(options.skip ?? 0)])
    }

    // MARK: Statements

    /// Returns the compiler for a statement with the set's table as `t0`.
    func compiler(
        for set: EntitySet, _ options: QueryOptions, _ now: GlobalDateTime?, parameters: [Value] = []
    ) throws -> SQLCompiler {
        guard let model = rowTables.model,
            let scope = EntityTableScope(set, alias: "t0", model: model, layouts: rowTables.layouts)
        else {
            throw EvaluationError(.unsupported, "\(set.name) has no table.")
        }
        // The function `tl_standing` reads the queue.
        try queue.load()
        return SQLCompiler(
            scope, functions: try queryFunctions(model), now: now, aliases: options.aliases, parameters: parameters)
    }

    /// Returns the results of `read` for each row of a compiled statement.
    func found<Found>(_ text: SQLText, _ read: (Row) throws -> Found) throws -> [Found] {
        var found: [Found] = []
        try each(text) { found.append(try read($0)) }
        return found
    }

    func each(_ text: SQLText, _ body: (Row) throws -> Void) throws {
        do {
            try connection.each(text.sql, text.values, body)
        } catch let error as SQLiteError {
            // The evaluator failed for a row, which is no damage of the file.
            for case let functions as SQLFunctions in connection.registrations {
                if let failure = functions.takeFailure() { throw failure }
            }
            throw Self.queryError(error)
        }
    }

    /// Converts an error of a query. A statement that exceeds a limit of SQLite is no damage; the query has to be
    /// answered in memory. 18 is SQLITE_TOOBIG, 1 is SQLITE_ERROR, which also reports a missing table or column.
    static func queryError(_ error: SQLiteError) -> any Error {
        guard error.code == 18 || error.code == 1 && !error.message.hasPrefix("no such") else {
            return StateError(error)
        }
        return EvaluationError(.unsupported, "The query cannot be evaluated in SQL: \(error.message).")
    }

    /// Returns the functions of the connection. Registers them at the first call and after the model has changed.
    func queryFunctions(_ model: EntityDataModel) throws -> SQLFunctions {
        for case let functions as SQLFunctions in connection.registrations where functions.model === model {
            return functions
        }
        do throws(SQLiteError) {
            // The older ones may be released when SQLite does not call them any more.
            let functions = try SQLFunctions.register(on: connection, model: model)
            connection.registrations.removeAll { $0 is SQLFunctions && $0 !== functions }
            // The statements refer to expressions of the older ones.
            selections = [:]
            return functions
        } catch {
            throw StateError(error)
        }
    }
}
