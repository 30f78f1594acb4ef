/// A recorder of executed statements, without duplicates, in the order of their first run.
package final class StatementTrace {
    package struct Statement {
        package let sql: String
        /// The values of the first run.
        package let values: [SQLValue]
        package fileprivate(set) var runs = 1
    }

    package private(set) var statements: [Statement] = []
    /// The reasons why parts of the query were answered in memory.
    package private(set) var reasons: [String] = []
    private var places: [String: Int] = [:]

    package init() {}

    func record(_ sql: String, _ values: [SQLValue]) {
        if let place = places[sql] {
            statements[place].runs += 1
        } else {
            places[sql] = statements.count
            statements.append(Statement(sql: sql, values: values))
        }
    }

    func recordInMemory(_ reason: String) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}
