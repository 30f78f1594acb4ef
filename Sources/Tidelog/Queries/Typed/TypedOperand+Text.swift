import EDM
import ODataWire

/// Functions of strings. Characters are counted as Unicode scalars, and case counts.
extension TypedOperand where Value == String {
    public func contains(_ text: String) -> QueryFilter { condition(.contains, .text(text)) }
    public func startsWith(_ text: String) -> QueryFilter { condition(.startswith, .text(text)) }
    public func endsWith(_ text: String) -> QueryFilter { condition(.endswith, .text(text)) }
    public func contains(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.contains, other.queryExpression)
    }
    public func startsWith(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.startswith, other.queryExpression)
    }
    public func endsWith(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.endswith, other.queryExpression)
    }
    /// Whether the regular expression (ECMAScript's) finds something; `^` and `$` say that it has to be the whole.
    public func matchesPattern(_ pattern: String) -> QueryFilter { condition(.matchesPattern, .text(pattern)) }

    public func toLower() -> TypedFunction<String> { TypedFunction(.tolower, [queryExpression], .string) }
    public func toUpper() -> TypedFunction<String> { TypedFunction(.toupper, [queryExpression], .string) }
    public func trim() -> TypedFunction<String> { TypedFunction(.trim, [queryExpression], .string) }
    public func length() -> TypedFunction<Int> { TypedFunction(.length, [queryExpression], .int32) }

    /// Where the text begins for the first time, from 0; -1 where it does not occur.
    public func indexOf(_ text: String) -> TypedFunction<Int> {
        TypedFunction(.indexof, [queryExpression, .text(text)], .int32)
    }
    public func indexOf(_ other: some TypedOperand<String>) -> TypedFunction<Int> {
        TypedFunction(.indexof, [queryExpression, other.queryExpression], .int32)
    }

    public func concat(_ text: String) -> TypedFunction<String> {
        TypedFunction(.concat, [queryExpression, .text(text)], .string)
    }
    public func concat(_ other: some TypedOperand<String>) -> TypedFunction<String> {
        TypedFunction(.concat, [queryExpression, other.queryExpression], .string)
    }

    /// What begins at that character, counted from 0.
    public func substring(from start: Int) -> TypedFunction<String> {
        TypedFunction(.substring, [queryExpression, .number(start)], .string)
    }
    public func substring(from start: Int, length: Int) -> TypedFunction<String> {
        TypedFunction(.substring, [queryExpression, .number(start), .number(length)], .string)
    }

    /// Every occurrence of the one text replaced by the other. Known to a store and to services of V2, not to those of V4.
    public func replace(_ text: String, with replacement: String) -> TypedFunction<String> {
        TypedFunction(.replace, [queryExpression, .text(text), .text(replacement)], .string)
    }
}
