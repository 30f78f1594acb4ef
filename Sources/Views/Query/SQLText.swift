import EDM
package import ODataWire

/// A piece of SQL with the values for its question marks, in their order.
package struct SQLText: Sendable, Hashable {
    package var sql: String
    var arguments: [Argument]

    /// What a question mark stands for.
    struct Argument: Sendable, Hashable {
        var value: SQLValue
        /// The literal of the query that the value was made from, by its place among the parameters of the condition, so that
        /// the statement can be run with another one; nil for what belongs to the statement.
        var source: Source?

        struct Source: Sendable, Hashable {
            let place: Int
            let form: Form
        }

        /// How a literal is written into a statement.
        enum Form: Sendable, Hashable { case plain, decimal, sortKey }
    }

    package var values: [SQLValue] { arguments.map(\.value) }

    package init(_ sql: String, _ values: [SQLValue] = []) {
        self.sql = sql
        arguments = values.map { Argument(value: $0) }
    }

    private init(_ sql: String, arguments: [Argument]) {
        self.sql = sql
        self.arguments = arguments
    }

    /// A question mark for a literal; null where it has no such form.
    init(_ literal: Value, place: Int?, form: Argument.Form = .plain) {
        sql = "?"
        arguments = [
            Argument(value: form.value(of: literal), source: place.map { Argument.Source(place: $0, form: form) })
        ]
    }

    /// The same statement for other literals.
    func filled(with parameters: [Value]) -> SQLText {
        SQLText(
            sql,
            arguments: arguments.map { argument in
                guard let source = argument.source, parameters.indices.contains(source.place) else { return argument }
                return Argument(value: source.form.value(of: parameters[source.place]), source: source)
            })
    }

    static func + (a: SQLText, b: SQLText) -> SQLText { SQLText(a.sql + b.sql, arguments: a.arguments + b.arguments) }
    static func + (a: SQLText, b: String) -> SQLText { SQLText(a.sql + b, arguments: a.arguments) }
    static func + (a: String, b: SQLText) -> SQLText { SQLText(a + b.sql, arguments: b.arguments) }

    static func joined(_ parts: [SQLText], by separator: String) -> SQLText {
        SQLText(parts.map(\.sql).joined(separator: separator), arguments: parts.flatMap(\.arguments))
    }
}

extension SQLText.Argument.Form {
    func value(of literal: Value) -> SQLValue {
        switch (self, literal) {
        case (.plain, _): SQLValue(literal)
        case (.decimal, .integer(let number)): .text(String(number))
        case (.decimal, _): SQLValue(literal)
        case (.sortKey, _): SortKey.bytes(literal).map { .blob($0) } ?? .null
        }
    }
}

/// What the names of an expression are in SQL, for one row of one table.
package protocol SQLScope {
    /// The column of a property, named by its path from the entity.
    func column(_ path: [String]) -> SQLColumn?
    /// A navigation property. The targets' table goes by `alias`, which no other table of the statement has.
    func navigation(_ name: String, alias: String) -> SQLNavigation?
    /// A condition that the row's entity is of the type or derived from it.
    func isInstance(of type: String) -> SQLText?
    /// A condition for an offline function, where the store answers it in SQL.
    func state(_ function: CanonicalFunction) -> SQLText?
}

/// The column of a property.
package struct SQLColumn {
    package let sql: String
    package let kind: StoredKind
    /// The enumeration that it holds members of, by their names or numbers; nil for other columns.
    package let enumeration: String?

    package init(_ sql: String, _ kind: StoredKind, enumeration: String? = nil) {
        self.sql = sql
        self.kind = kind
        self.enumeration = enumeration
    }
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
