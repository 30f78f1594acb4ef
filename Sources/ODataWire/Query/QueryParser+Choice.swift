internal import EDM

/// The interpretation of a colon after digits.
///
/// `case(At eq 10:20,…)` may compare with the time 10:20, or with 10 and have the value 20. The rest of the text
/// resolves the ambiguity.
struct ColonAmbiguity {
    /// Whether a time of day ends before its last colon.
    var endsTimes = false
    /// Whether a time of day was parsed since the flag was cleared.
    var hasReadTime = false
    /// The number of conditions that may still be parsed a second time. Without a limit, nested ones would take
    /// exponential time.
    var attempts = 16
}

extension QueryParser {
    /// Parses the choices of `case` including the closing parenthesis, after the opening one.
    mutating func choice() throws(URLSyntaxError) -> Expression {
        var choices: [Expression.Choice] = []
        var tallest = 0
        let outer = colons.endsTimes
        defer { colons.endsTimes = outer }
        repeat {
            let condition = try condition()
            tallest = max(tallest, height)
            colons.endsTimes = false
            let value = try expression()
            tallest = max(tallest, height)
            choices.append(Expression.Choice(condition: condition, value: value))
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        try cursor.expect(")", "at the end of case()")
        try setHeight(over: tallest)
        return .choice(choices)
    }

    /// Parses a condition and the colon after it.
    private mutating func condition() throws(URLSyntaxError) -> Expression {
        let start = cursor.offset
        colons.endsTimes = false
        colons.hasReadTime = false
        do throws(URLSyntaxError) {
            return try conditionAndColon()
        } catch {
            guard colons.hasReadTime, colons.attempts > 0 else { throw error }
            colons.attempts -= 1
            cursor.offset = start
            colons.endsTimes = true
            guard let condition = try? conditionAndColon() else { throw error }
            return condition
        }
    }

    private mutating func conditionAndColon() throws(URLSyntaxError) -> Expression {
        let condition = try expression()
        cursor.skipWhitespace()
        try cursor.expect(":", "between condition and value")
        return condition
    }
}
