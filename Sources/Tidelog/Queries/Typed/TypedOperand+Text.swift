import EDM

/// String functions. Characters are counted as Unicode scalars; comparisons are case-sensitive.
extension TypedOperand where Value == String {
    /// Returns a condition that is true if the operand contains the text.
    public func contains(_ text: String) -> QueryFilter { condition(.contains, .text(text)) }
    /// Returns a condition that is true if the operand starts with the text.
    public func startsWith(_ text: String) -> QueryFilter { condition(.startswith, .text(text)) }
    /// Returns a condition that is true if the operand ends with the text.
    public func endsWith(_ text: String) -> QueryFilter { condition(.endswith, .text(text)) }
    /// Returns a condition that is true if the operand contains the other one.
    public func contains(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.contains, other.syntax)
    }
    /// Returns a condition that is true if the operand starts with the other one.
    public func startsWith(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.startswith, other.syntax)
    }
    /// Returns a condition that is true if the operand ends with the other one.
    public func endsWith(_ other: some TypedOperand<String>) -> QueryFilter {
        condition(.endswith, other.syntax)
    }
    /// Returns a condition that is true if the regular expression (ECMAScript) matches a part of the text. Anchor it
    /// with `^` and `$` to match the whole text.
    public func matchesPattern(_ pattern: String) -> QueryFilter { condition(.matchesPattern, .text(pattern)) }

    /// Returns the text in lower case.
    public func toLower() -> TypedFunction<String> { TypedFunction(.tolower, [syntax], .string) }
    /// Returns the text in upper case.
    public func toUpper() -> TypedFunction<String> { TypedFunction(.toupper, [syntax], .string) }
    /// Returns the text without white space at its beginning and end.
    public func trim() -> TypedFunction<String> { TypedFunction(.trim, [syntax], .string) }
    /// Returns the number of characters.
    public func length() -> TypedFunction<Int> { TypedFunction(.length, [syntax], .int32) }

    /// Returns the index of the first occurrence of the text, from 0, or -1 if it does not occur.
    public func indexOf(_ text: String) -> TypedFunction<Int> {
        TypedFunction(.indexof, [syntax, .text(text)], .int32)
    }
    /// Returns the index of the first occurrence of the other operand, from 0, or -1 if it does not occur.
    public func indexOf(_ other: some TypedOperand<String>) -> TypedFunction<Int> {
        TypedFunction(.indexof, [syntax, other.syntax], .int32)
    }

    /// Returns the operand followed by the text.
    public func concat(_ text: String) -> TypedFunction<String> {
        TypedFunction(.concat, [syntax, .text(text)], .string)
    }
    /// Returns the operand followed by the other one.
    public func concat(_ other: some TypedOperand<String>) -> TypedFunction<String> {
        TypedFunction(.concat, [syntax, other.syntax], .string)
    }

    /// Returns the text from the character with the given index, counted from 0.
    public func substring(from start: Int) -> TypedFunction<String> {
        TypedFunction(.substring, [syntax, .number(start)], .string)
    }
    /// Returns at most `length` characters from the character with the given index, counted from 0.
    public func substring(from start: Int, length: Int) -> TypedFunction<String> {
        TypedFunction(.substring, [syntax, .number(start), .number(length)], .string)
    }

    /// Returns the text with every occurrence of `text` replaced. Supported by a store and by V2 services, not by V4
    /// services.
    public func replace(_ text: String, with replacement: String) -> TypedFunction<String> {
        TypedFunction(.replace, [syntax, .text(text), .text(replacement)], .string)
    }
}
