package import ODataWire

/// A piece of SQL with the values for its question marks, in their order.
package struct SQLText: Sendable, Hashable {
    package var sql: String
    package var values: [SQLValue]

    package init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        self.values = values
    }

    static func + (a: SQLText, b: SQLText) -> SQLText { SQLText(a.sql + b.sql, a.values + b.values) }
    static func + (a: SQLText, b: String) -> SQLText { SQLText(a.sql + b, a.values) }
    static func + (a: String, b: SQLText) -> SQLText { SQLText(a + b.sql, b.values) }

    static func joined(_ parts: [SQLText], by separator: String) -> SQLText {
        SQLText(parts.map(\.sql).joined(separator: separator), parts.flatMap(\.values))
    }
}

/// What the names of an expression are in SQL, for one row of one table.
package protocol SQLScope {
    /// The column of a property, named by its path from the entity.
    func column(_ path: [String]) -> (sql: String, kind: StoredKind)?
    /// A navigation property. The targets' table goes by `alias`, which no other table of the statement has.
    func navigation(_ name: String, alias: String) -> SQLNavigation?
    /// A condition that the row's entity is of the type or derived from it.
    func isInstance(of type: String) -> SQLText?
    /// A condition for an offline function, where the store answers it in SQL.
    func state(_ function: CanonicalFunction) -> SQLText?
}

/// How to get from a row to the rows that a navigation property leads to.
package struct SQLNavigation {
    package let isCollection: Bool
    /// What follows `FROM`, up to and with a `WHERE` to which more conditions can be added with `AND`.
    package let source: SQLText
    package let scope: any SQLScope

    package init(isCollection: Bool, source: SQLText, scope: any SQLScope) {
        self.isCollection = isCollection
        self.source = source
        self.scope = scope
    }
}
