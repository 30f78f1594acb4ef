/// How a query is answered: what SQLite is asked, and what is done in memory.
public struct QueryExplanation: Sendable, Hashable {
    /// In the order in which they run first.
    public var statements: [Statement]
    /// Why rows are filtered, sorted or walked in memory, in sentences; empty where SQLite does it all.
    public var inMemory: [String]
    /// How many entities the answer has, without those that are expanded.
    public var entities: Int

    public struct Statement: Sendable, Hashable {
        public var sql: String
        /// What each question mark stands for, without the values: `text`, `integer`, `real`, `blob` or `null`.
        public var parameters: [String]
        /// What SQLite says of its way, from `EXPLAIN QUERY PLAN`: `SEARCH … USING INDEX …` goes by an index, `SCAN …`
        /// reads everything, `USE TEMP B-TREE FOR ORDER BY` sorts. Indented by depth.
        public var plan: [String]
        /// How often it ran for this query.
        public var runs: Int
        /// Whether conditions or terms of it are left to the evaluator, row by row: those are behind `tl_test`, `tl_key`
        /// and `tl_search`.
        public var callsEvaluator: Bool
    }
}
