import EDM

/// An expression that is a value in SQL.
struct SQLScalar {
    var text: SQLText
    /// The kind, or nil for null.
    var kind: StoredKind?
    /// The value of a literal.
    var literal: Value?
    /// The index of a literal among the parameters.
    var place: Int?
    /// The enumeration of a member.
    var enumeration: String?

    init(_ text: SQLText, _ kind: StoredKind?, enumeration: String? = nil) {
        self.text = text
        self.kind = kind
        self.enumeration = enumeration
    }

    init(_ value: Value, place: Int? = nil) {
        text = SQLText(value, place: place)
        kind = StoredKind(value)
        literal = value
        self.place = place
    }
}

extension SQLText {
    /// Joins the parts in parentheses, many of them as a balanced tree: a chain is as deep as it is long for SQLite,
    /// which allows 1,000 levels.
    static func nested(_ parts: ArraySlice<SQLText>, by link: String) -> SQLText {
        guard parts.count > 16 else { return "(" + joined(Array(parts), by: link) + ")" }
        let middle = parts.startIndex + parts.count / 2
        return "(" + nested(parts[..<middle], by: link) + link + nested(parts[middle...], by: link) + ")"
    }
}
