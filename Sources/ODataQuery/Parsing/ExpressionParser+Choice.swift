internal import EDM

extension ExpressionParser {
    /// Parses the choices of `case` including the closing parenthesis, after the opening one.
    mutating func choice() throws(URLSyntaxError) -> Expression {
        var choices: [Expression.Choice] = []
        var tallest = 0
        let outer = state.colons.endsTimes
        defer { state.colons.endsTimes = outer }
        repeat {
            let condition = try condition()
            tallest = max(tallest, height)
            state.colons.endsTimes = false
            let value = try expression(atLeast: 1)
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
        state.colons.endsTimes = false
        state.colons.hasReadTime = false
        do throws(URLSyntaxError) {
            return try conditionAndColon()
        } catch {
            guard state.colons.hasReadTime, state.colons.attempts > 0 else { throw error }
            state.colons.attempts -= 1
            cursor.offset = start
            state.colons.endsTimes = true
            guard let condition = try? conditionAndColon() else { throw error }
            return condition
        }
    }

    private mutating func conditionAndColon() throws(URLSyntaxError) -> Expression {
        let condition = try expression(atLeast: 1)
        cursor.skipWhitespace()
        try cursor.expect(":", "between condition and value")
        return condition
    }
}
