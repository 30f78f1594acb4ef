public import EDM

/// The expression of `$search` (OData 4.01 Part 2, section 5.1.7).
public indirect enum SearchExpression: Sendable, Hashable {
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
    public static func parse(_ text: String, version: ODataVersion = .v4) throws(URLSyntaxError) -> SearchExpression {
        var parser = try QueryParser(text, version: version)
        let search = try parser.search()
        parser.cursor.skipWhitespace()
        guard parser.cursor.isAtEnd else { throw parser.cursor.error("Unexpected text in $search.") }
        return search
    }
}

extension SearchExpression: CustomStringConvertible {
    /// The text of `$search`, without percent-encoding.
    public var description: String { text(within: 0) }

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

extension QueryParser {
    /// Parses a search. OR binds less tightly than AND, and AND less than NOT; adjacent words are joined with AND.
    mutating func search() throws(URLSyntaxError) -> SearchExpression {
        cursor.skipWhitespace()
        if version == .v401, cursor.peek() == UInt8(ascii: "'") { return try incompleteSearch() }
        return try searchAlternatives()
    }

    private mutating func searchAlternatives() throws(URLSyntaxError) -> SearchExpression {
        try nested { (parser) throws(URLSyntaxError) in
            var left = try parser.searchConjunction()
            while parser.skipSearchOperator("OR") {
                let leftHeight = parser.height
                left = .or(left, try parser.searchConjunction())
                try parser.setHeight(over: leftHeight, parser.height)
            }
            return left
        }
    }

    private mutating func searchConjunction() throws(URLSyntaxError) -> SearchExpression {
        var left = try searchTerm()
        while true {
            let start = cursor.offset
            if !skipSearchOperator("AND") {
                let isSeparated = cursor.skipWhitespace()
                guard startsSearchTerm(), isSeparated || version != .v401, !hasSearchOperator("OR") else {
                    cursor.offset = start
                    return left
                }
            }
            let leftHeight = height
            left = .and(left, try searchTerm())
            try setHeight(over: leftHeight, height)
        }
    }

    private mutating func searchTerm() throws(URLSyntaxError) -> SearchExpression {
        cursor.skipWhitespace()
        if cursor.skip("(" as Character) {
            let inner = try searchAlternatives()
            cursor.skipWhitespace()
            try cursor.expect(")", "in $search")
            return inner
        }
        height = 1
        if cursor.peek() == UInt8(ascii: "\"") { return try phrase() }
        guard version != .v401 || cursor.peek() != UInt8(ascii: "'") else {
            throw cursor.error("A search word must not begin with a single quote.")
        }
        let start = cursor.offset
        let word = searchWord()
        switch word {
        case "": throw cursor.error("Expected a search word.")
        case "NOT":
            cursor.skipWhitespace()
            if startsSearchTerm(), version == .v401 || !startsSearchOperator("NOT"), !startsSearchOperator("AND"),
                !startsSearchOperator("OR")
            {
                let operand = try nested { (parser) throws(URLSyntaxError) in try parser.searchTerm() }
                try setHeight(over: height)
                return .not(operand)
            }
            fallthrough
        case "AND", "OR":
            // The grammar of 4.01 does not exclude these from its words.
            guard version == .v401 else { throw cursor.error("\(word) must be followed by a search word.", at: start) }
            return .word(word)
        default: return .word(word)
        }
    }

    private mutating func phrase() throws(URLSyntaxError) -> SearchExpression {
        let start = cursor.offset
        cursor.offset += 1
        var content: [UInt8] = []
        while !cursor.isAtEnd {
            let byte = cursor.peek()
            cursor.offset += 1
            if byte == UInt8(ascii: "\"") {
                guard cursor.isAtEnd || !startsSearchWord() else {
                    throw cursor.error("Expected a space between search terms.")
                }
                guard !content.isEmpty else { break }
                return .phrase(String(decoding: content, as: UTF8.self))
            }
            if byte == UInt8(ascii: "\\"), cursor.peek() == UInt8(ascii: "\"") || cursor.peek() == UInt8(ascii: "\\") {
                content.append(cursor.peek())
                cursor.offset += 1
            } else {
                content.append(byte)
            }
        }
        throw cursor.error("The search phrase is empty or not closed.", .malformedLiteral, at: start)
    }

    /// Parses text in single quotes, unchanged up to the last quote before the end of the option.
    private mutating func incompleteSearch() throws(URLSyntaxError) -> SearchExpression {
        let start = cursor.offset
        cursor.offset += 1
        var content: [UInt8] = []
        while !cursor.isAtEnd {
            let byte = cursor.peek()
            cursor.offset += 1
            if byte == UInt8(ascii: "'") {
                guard cursor.peek() == byte else { return .phrase(String(decoding: content, as: UTF8.self)) }
                cursor.offset += 1
            }
            content.append(byte)
        }
        throw cursor.error("The quoted search is not closed.", .malformedLiteral, at: start)
    }

    // MARK: Words

    private func isSearchWordByte(at offset: Int) -> Bool {
        switch cursor.bytes[offset] {
        case 0x20, 0x09, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""): false
        case UInt8(ascii: ";"): cursor.encodedSemicolons.contains(offset)
        default: true
        }
    }

    private func startsSearchWord() -> Bool { !cursor.isAtEnd && isSearchWordByte(at: cursor.offset) }

    private func startsSearchTerm() -> Bool {
        startsSearchWord() || cursor.peek() == UInt8(ascii: "(") || cursor.peek() == UInt8(ascii: "\"")
    }

    private mutating func searchWord() -> String {
        let start = cursor.offset
        while startsSearchWord() { cursor.offset += 1 }
        return cursor.slice(from: start)
    }

    private func startsSearchOperator(_ word: String) -> Bool {
        var ahead = self
        return ahead.searchWord() == word
    }

    /// Returns whether the word is an operator here. In 4.01 it is one only if a search term follows.
    private func hasSearchOperator(_ word: String) -> Bool {
        var ahead = self
        return ahead.skipSearchOperator(word)
    }

    private mutating func skipSearchOperator(_ word: String) -> Bool {
        let start = cursor.offset
        cursor.skipWhitespace()
        if searchWord() == word {
            guard version == .v401 else { return true }
            let end = cursor.offset
            cursor.skipWhitespace()
            if startsSearchTerm() {
                cursor.offset = end
                return true
            }
        }
        cursor.offset = start
        return false
    }
}
