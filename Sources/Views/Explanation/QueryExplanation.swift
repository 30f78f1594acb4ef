/// The execution of a query: its SQL statements, and the work that is done in memory.
public struct QueryExplanation: Sendable, Hashable {
    /// The statements, in the order of their first run.
    public var statements: [Statement]
    /// The reasons why rows are filtered, sorted or traversed in memory, as sentences; empty if SQLite does all work.
    public var inMemory: [String]
    /// The number of entities in the result, without expanded ones.
    public var entities: Int

    /// A statement that the query executed.
    public struct Statement: Sendable, Hashable {
        /// The text of the statement, in SQL of SQLite.
        public var sql: String
        /// The type of each parameter, without its value: `text`, `integer`, `real`, `blob` or `null`.
        public var parameters: [String]
        /// The plan from `EXPLAIN QUERY PLAN`: `SEARCH … USING INDEX …` uses an index, `SCAN …` reads all rows, `USE
        /// TEMP B-TREE FOR ORDER BY` sorts. Indented by depth.
        public var plan: [String]
        /// The number of runs for this query.
        public var runs: Int
        /// A Boolean value that indicates whether the statement calls the evaluator for each row, by `tl_test`,
        /// `tl_key` or `tl_search`.
        public var callsEvaluator: Bool
    }
}
