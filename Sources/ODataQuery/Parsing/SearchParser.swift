internal import EDM

/// A parser for the words, phrases and operators of `$search`.
struct SearchParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    /// Parses a search. OR binds less tightly than AND, and AND less than NOT; adjacent words are joined with AND.
    mutating func search() throws(URLSyntaxError) -> SearchExpression {
        cursor.skipWhitespace()
        if version == .v401, cursor.peek() == UInt8(ascii: "'") { return try incompletePhrase() }
        return try alternatives()
    }

    private mutating func alternatives() throws(URLSyntaxError) -> SearchExpression {
        try nested { (parser) throws(URLSyntaxError) in
            var left = try parser.conjunction()
            while parser.skipOperator("OR") {
                let leftHeight = parser.height
                left = .or(left, try parser.conjunction())
                try parser.setHeight(over: leftHeight, parser.height)
            }
            return left
        }
    }

    private mutating func conjunction() throws(URLSyntaxError) -> SearchExpression {
        var left = try term()
        while true {
            let start = cursor.offset
            if !skipOperator("AND") {
                let isSeparated = cursor.skipWhitespace()
                guard startsTerm(), isSeparated || version != .v401, !hasOperator("OR") else {
                    cursor.offset = start
                    return left
                }
            }
            let leftHeight = height
            left = .and(left, try term())
            try setHeight(over: leftHeight, height)
        }
    }

    private mutating func term() throws(URLSyntaxError) -> SearchExpression {
        cursor.skipWhitespace()
        if cursor.skip("(" as Character) {
            let inner = try alternatives()
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
            if startsTerm(), version == .v401 || !startsOperator("NOT"), !startsOperator("AND"),
                !startsOperator("OR")
            {
                let operand = try nested { (parser) throws(URLSyntaxError) in try parser.term() }
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
                guard cursor.isAtEnd || !startsWord() else {
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
    private mutating func incompletePhrase() throws(URLSyntaxError) -> SearchExpression {
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

    private func isWordByte(at offset: Int) -> Bool {
        switch cursor.bytes[offset] {
        case 0x20, 0x09, UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""): false
        case UInt8(ascii: ";"): cursor.encodedSemicolons.contains(offset)
        default: true
        }
    }

    private func startsWord() -> Bool { !cursor.isAtEnd && isWordByte(at: cursor.offset) }

    private func startsTerm() -> Bool {
        startsWord() || cursor.peek() == UInt8(ascii: "(") || cursor.peek() == UInt8(ascii: "\"")
    }

    private mutating func searchWord() -> String {
        let start = cursor.offset
        while startsWord() { cursor.offset += 1 }
        return cursor.slice(from: start)
    }

    private func startsOperator(_ word: String) -> Bool {
        var ahead = self
        return ahead.searchWord() == word
    }

    /// Returns whether the word is an operator here. In 4.01 it is one only if a search term follows.
    private func hasOperator(_ word: String) -> Bool {
        var ahead = self
        return ahead.skipOperator(word)
    }

    private mutating func skipOperator(_ word: String) -> Bool {
        let start = cursor.offset
        cursor.skipWhitespace()
        if searchWord() == word {
            guard version == .v401 else { return true }
            let end = cursor.offset
            cursor.skipWhitespace()
            if startsTerm() {
                cursor.offset = end
                return true
            }
        }
        cursor.offset = start
        return false
    }
}
