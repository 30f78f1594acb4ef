import EDM
import ODataQuery

/// Comparisons of strings that can ignore case. Both sides are converted with `tolower`, by Unicode's rules.
extension TypedOperand where Value == String {
    /// Returns a condition that is true if the text is equal: `Customer.name.equal("ada", caseSensitive: false)`.
    public func equal(_ text: String, caseSensitive: Bool) -> QueryFilter {
        caseSensitive ? equal(text) : lowered.compare(.eq, .lowered(text))
    }
    /// Returns a condition that is true if the text differs. Also true for null.
    public func notEqual(_ text: String, caseSensitive: Bool) -> QueryFilter {
        caseSensitive ? notEqual(text) : lowered.compare(.ne, .lowered(text))
    }
    /// Returns a condition that is true if the operand contains the text.
    public func contains(_ text: String, caseSensitive: Bool) -> QueryFilter {
        caseSensitive ? contains(text) : lowered.condition(.contains, .lowered(text))
    }
    /// Returns a condition that is true if the operand starts with the text.
    public func startsWith(_ text: String, caseSensitive: Bool) -> QueryFilter {
        caseSensitive ? startsWith(text) : lowered.condition(.startswith, .lowered(text))
    }
    /// Returns a condition that is true if the operand ends with the text.
    public func endsWith(_ text: String, caseSensitive: Bool) -> QueryFilter {
        caseSensitive ? endsWith(text) : lowered.condition(.endswith, .lowered(text))
    }
    /// Returns a condition that is true if the text is equal to one of the texts. False if `texts` is empty.
    public func isIn(_ texts: [String], caseSensitive: Bool) -> QueryFilter {
        guard !caseSensitive, !texts.isEmpty else { return isIn(texts) }
        let equals = texts.map { equal($0, caseSensitive: false).expression }
        return QueryFilter(expression: Expression.any(of: equals) ?? .literal(.boolean(false), .boolean))
    }

    private var lowered: TypedFunction<String> { toLower() }
}

extension Expression {
    /// The text in lower case, converted by the evaluator of the query, so that both sides follow the same rules.
    fileprivate static func lowered(_ text: String) -> Expression { .call(.tolower, [.text(text)]) }
}
