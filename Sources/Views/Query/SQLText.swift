import EDM
package import ODataQuery

/// A part of an SQL statement, with the values of its question marks in their order.
package struct SQLText: Sendable, Hashable {
    package var sql: String
    var arguments: [Argument]

    /// The argument of a question mark.
    struct Argument: Sendable, Hashable {
        var value: SQLValue
        /// The literal of the query from which the value was made, by its index among the parameters of the condition,
        /// so that the statement can be run with other literals; nil for values that belong to the statement.
        var source: Source?

        struct Source: Sendable, Hashable {
            let place: Int
            let form: ArgumentForm
        }

        /// The form of a literal in a statement.
        enum ArgumentForm: Sendable, Hashable { case plain, decimal, sortKey }
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

    /// Creates a question mark for a literal; its value is null if the literal does not have the form.
    init(_ literal: Value, place: Int?, form: Argument.ArgumentForm = .plain) {
        sql = "?"
        arguments = [
            Argument(value: form.value(of: literal), source: place.map { Argument.Source(place: $0, form: form) })
        ]
    }

    /// Returns the same statement with other literals.
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

extension SQLText.Argument.ArgumentForm {
    func value(of literal: Value) -> SQLValue {
        switch (self, literal) {
        case (.plain, _): SQLValue(literal)
        case (.decimal, .integer(let number)): .text(String(number))
        case (.decimal, _): SQLValue(literal)
        case (.sortKey, _): SortKey.bytes(literal).map { .blob($0) } ?? .null
        }
    }
}

/// The meaning of the names of an expression in SQL, for one row of one table.
package protocol SQLScope {
    /// Returns the column of a property, given by its path from the entity.
    func column(_ path: [String]) -> SQLColumn?
    /// Returns a navigation property. The table of its targets gets the name `alias`, which must be unique in the
    /// statement.
    func navigation(_ name: String, alias: String) -> SQLNavigation?
    /// Returns a condition that the row's entity is of the type or of a derived type.
    func isInstance(of type: String) -> SQLText?
    /// Returns a condition for an offline function, if SQL can evaluate it.
    func state(_ function: CanonicalFunction) -> SQLText?
}

/// The column of a property.
package struct SQLColumn {
    package let sql: String
    package let kind: StoredKind
    /// The enumeration whose members the column contains, as names or numbers; nil for other columns.
    package let enumeration: String?

    package init(_ sql: String, _ kind: StoredKind, enumeration: String? = nil) {
        self.sql = sql
        self.kind = kind
        self.enumeration = enumeration
    }
}

/// The path from a row to the target rows of a navigation property.
package struct SQLNavigation {
    package let isCollection: Bool
    /// The text after `FROM`, including a `WHERE` to which further conditions can be added with `AND`.
    package let source: SQLText
    package let scope: any SQLScope

    package init(isCollection: Bool, source: SQLText, scope: any SQLScope) {
        self.isCollection = isCollection
        self.source = source
        self.scope = scope
    }
}
