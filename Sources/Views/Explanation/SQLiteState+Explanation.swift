import SyncCore

/// Explanations of queries.
extension SQLiteState {
    /// Runs `body`, and returns the statements that it executed, with their plans.
    ///
    /// - Parameter answer: Executes the query, and returns the number of entities in its result.
    package func explaining(_ answer: () throws -> Int) throws -> QueryExplanation {
        let trace = StatementTrace()
        connection.trace = trace
        defer { connection.trace = nil }
        let entities = try answer()
        connection.trace = nil
        return QueryExplanation(
            statements: try trace.statements.map(explanation), inMemory: trace.reasons, entities: entities)
    }

    private func explanation(_ statement: StatementTrace.Statement) throws(StateError) -> QueryExplanation.Statement {
        var depths: [Int64: Int] = [0: -1]
        let plan = try list("EXPLAIN QUERY PLAN " + statement.sql, statement.values) { row -> String in
            let depth = depths[row.integer(1), default: -1] + 1
            depths[row.integer(0)] = depth
            return String(repeating: "  ", count: depth) + (row.text(3) ?? "")
        }
        return QueryExplanation.Statement(
            sql: statement.sql, parameters: statement.values.map(\.kindName), plan: plan, runs: statement.runs,
            callsEvaluator: ["tl_test(", "tl_key(", "tl_search("].contains { statement.sql.contains($0) })
    }
}

extension SQLValue {
    fileprivate var kindName: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text: "text"
        case .blob: "blob"
        }
    }
}
