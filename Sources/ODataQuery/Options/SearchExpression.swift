package import EDM

/// The expression of `$search` (OData 4.01 Part 2, section 5.1.7).
package indirect enum SearchExpression: Sendable, Hashable {
    case word(String)
    /// Words in this order, without the quotation marks.
    case phrase(String)
    case not(SearchExpression)
    case and(SearchExpression, SearchExpression)
    case or(SearchExpression, SearchExpression)

    /// Parses text without percent-encoding.
    ///
    /// In `v401`, words that are also operators are accepted where no operator is possible, as in its grammar, and text
    /// in single quotes, which is not a complete expression, is a phrase.
    package static func parse(_ text: String, version: ODataVersion = .v4) throws(URLSyntaxError) -> SearchExpression {
        var parser = try SearchParser(text, version: version)
        let search = try parser.search()
        parser.cursor.skipWhitespace()
        guard parser.cursor.isAtEnd else { throw parser.cursor.error("Unexpected text in $search.") }
        return search
    }
}

extension SearchExpression: CustomStringConvertible {
    /// The text of `$search`, without percent-encoding.
    package var description: String { text(within: 0) }

    private func text(within precedence: Int) -> String {
        func group(_ own: Int, _ text: String) -> String { own < precedence ? "(\(text))" : text }
        switch self {
        // Without parentheses, a word that is also an operator would be parsed as one.
        case .word(let word): return ["AND", "OR", "NOT"].contains(word) ? "(\(word))" : word
        case .phrase(let phrase):
            var quoted = "\""
            for character in phrase.unicodeScalars {
                if character == "\"" || character == "\\" { quoted += "\\" }
                quoted.unicodeScalars.append(character)
            }
            return quoted + "\""
        case .not(let operand): return "NOT \(operand.text(within: 3))"
        case .and(let left, let right): return group(2, "\(left.text(within: 2)) AND \(right.text(within: 3))")
        case .or(let left, let right): return group(1, "\(left.text(within: 1)) OR \(right.text(within: 2))")
        }
    }
}
