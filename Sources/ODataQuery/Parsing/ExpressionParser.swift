package import EDM

/// A recursive-descent parser for the expressions of `$filter`, `$orderby` and `$compute`: operators, function calls,
/// choices, lists and objects.
struct ExpressionParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState
}

extension Expression {
    /// Parses an expression from text without percent-encoding.
    ///
    /// V2 and V3: the literals and function names of those versions, and also `contains`. V4: those of V4; `v401` also
    /// accepts operators and functions in any case.
    package static func parse(_ text: String, version: ODataVersion) throws(URLSyntaxError) -> Expression {
        var parser = try ExpressionParser(text, version: version)
        let expression = try parser.expression(atLeast: 1)
        try parser.expectEnd()
        return expression
    }
}

// MARK: - Operators

extension ExpressionParser {
    private enum Operator: Equatable {
        case or, and
        case comparison(ComparisonOperator)
        case arithmetic(ArithmeticOperator)

        init?(_ word: String) {
            switch word {
            case "or": self = .or
            case "and": self = .and
            default:
                if let comparison = ComparisonOperator(rawValue: word) {
                    self = .comparison(comparison)
                } else if let arithmetic = ArithmeticOperator(rawValue: word) {
                    self = .arithmetic(arithmetic)
                } else {
                    return nil
                }
            }
        }

        /// The precedence, from weak to strong (OData 4.01 Part 2, section 5.1.1.16). Prefix operators are between
        /// `mul` and `has`.
        var precedence: Int {
            switch self {
            case .or: 1
            case .and: 2
            case .comparison(.eq), .comparison(.ne): 3
            case .comparison(.has), .comparison(.in): 8
            case .comparison: 4
            case .arithmetic(.add), .arithmetic(.sub): 5
            case .arithmetic: 6
            }
        }
    }

    /// Consumes the next operator if it has one of these precedences. Otherwise the position does not change.
    private mutating func takeOperator(in precedences: ClosedRange<Int>) -> Operator? {
        let start = cursor.offset
        guard cursor.skipWhitespace(), let word = cursor.identifier(),
            let found = Operator(version == .v401 ? word.lowercased() : word), precedences.contains(found.precedence),
            version.isLegacy || endsOperator()
        else {
            cursor.offset = start
            return nil
        }
        return found
    }

    /// Returns whether white space follows, which the grammar of V4 requires, or a parenthesis, which many clients
    /// write instead.
    private func endsOperator() -> Bool {
        let next = cursor.peek()
        return cursor.isAtEnd || next == 0x20 || next == 0x09 || next == UInt8(ascii: "(")
    }

    mutating func expression() throws(URLSyntaxError) -> Expression { try expression(atLeast: 1) }

    /// Parses an expression of operators that bind at least as tightly as `precedence`.
    mutating func expression(atLeast precedence: Int) throws(URLSyntaxError) -> Expression {
        try nested { (parser) throws(URLSyntaxError) in
            var left = try parser.unary()
            while precedence <= 6, let next = parser.takeOperator(in: precedence...6) {
                let leftHeight = parser.height
                let place = parser.cursor.offset
                if next == .and || next == .or {
                    left = try parser.chain(left, next)
                    continue
                }
                var right = try parser.expression(atLeast: next.precedence + 1)
                try parser.setHeight(over: leftHeight, parser.height)
                switch next {
                case .comparison(let comparison): left = .comparison(comparison, left, right)
                case .arithmetic(let arithmetic):
                    left = parser.readingDuration(left)
                    right = parser.readingDuration(right)
                    try parser.checkOperands(arithmetic, left, right, at: place)
                    left = .arithmetic(arithmetic, left, right)
                case .and, .or: break
                }
            }
            return left
        }
    }

    /// Parses `first and second and …` into one flat node, so that a filter with a thousand keys stays shallow.
    private mutating func chain(_ first: Expression, _ link: Operator) throws(URLSyntaxError) -> Expression {
        var operands = [first]
        var tallest = height
        // `(a and b) and c` has the same tree as `a and b and c`.
        if case .and(let inner) = first, link == .and {
            operands = inner
            tallest -= 1
        } else if case .or(let inner) = first, link == .or {
            operands = inner
            tallest -= 1
        }
        repeat {
            operands.append(try expression(atLeast: link.precedence + 1))
            tallest = max(tallest, height)
        } while takeOperator(in: link.precedence...link.precedence) != nil
        try setHeight(over: tallest)
        return link == .and ? .and(operands) : .or(operands)
    }

    /// Rejects literals of a kind that has no arithmetic, which needs no model.
    private func checkOperands(
        _ operation: ArithmeticOperator, _ left: Expression, _ right: Expression, at place: Int
    ) throws(URLSyntaxError) {
        for operand in [left, right] {
            guard case .literal(let value, _) = operand else { continue }
            switch value {
            case .string, .boolean, .guid, .binary:
                throw cursor.error(
                    "The operator \(operation.rawValue) cannot be applied to this kind of literal.", .wrongArgumentType,
                    at: place)
            default: break
            }
        }
    }

    private mutating func unary() throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        // A minus directly before a digit belongs to the number.
        let isInfinity = cursor.starts(with: "-INF") && !cursor.peek(4).isIdentifierPart
        if cursor.peek() == UInt8(ascii: "-"), !cursor.peek(1).isDigit, !isInfinity {
            cursor.offset += 1
            let operand = try nested { (parser) throws(URLSyntaxError) in try parser.unary() }
            try setHeight(over: height)
            return .negation(operand)
        }
        if skipNot() {
            let operand = try nested { (parser) throws(URLSyntaxError) in try parser.unary() }
            try setHeight(over: height)
            return .not(operand)
        }
        var operand = try primary()
        guard !version.isLegacy else { return operand }
        while case .comparison(let comparison)? = takeOperator(in: 8...8) {
            let leftHeight = height
            let right = try comparison == .in ? collectionOperand() : flagsOperand()
            try setHeight(over: leftHeight, height)
            operand = .comparison(comparison, operand, right)
        }
        return operand
    }

    private mutating func skipNot() -> Bool {
        let start = cursor.offset
        guard let word = cursor.identifier(), (version == .v401 ? word.lowercased() : word) == "not",
            cursor.peek() == UInt8(ascii: "(") || cursor.skipWhitespace(), !cursor.isAtEnd
        else {
            cursor.offset = start
            return false
        }
        // A property may be named `not`. In that case an operator or the end follows.
        if cursor.peek() == UInt8(ascii: ")") || cursor.peek() == UInt8(ascii: ",") {
            cursor.offset = start
            return false
        }
        return true
    }

    /// Parses the right operand of `in`: a list of literals in parentheses, which may be empty, or any expression for a
    /// collection, which may also be in parentheses.
    private mutating func collectionOperand() throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        let start = cursor.offset
        guard cursor.skip("(" as Character) else { return try primary() }
        let items = try nested { (parser) throws(URLSyntaxError) in try parser.list(until: ")") }
        // A single item in parentheses is a list only if it is a literal; otherwise it is the collection itself.
        if items.count == 1, let only = items.first, !only.isLiteral { return only }
        guard items.allSatisfy({ $0.isLiteral || $0.isAlias }) else {
            throw cursor.error(
                "A list in parentheses after \"in\" can contain only literals; a list in brackets can contain expressions.",
                at: start)
        }
        return .list(items)
    }

    /// Parses the right operand of `has`: enumeration members, or a parameter alias for them.
    private mutating func flagsOperand() throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        let start = cursor.offset
        let operand = try primary()
        switch operand {
        case .enumeration, .literal(.string, _): return operand
        default: if operand.isAlias { return operand }
        }
        throw cursor.error("\"has\" must be followed by members of an enumeration.", .wrongArgumentType, at: start)
    }

    /// Parses comma-separated expressions including the closing character, after the opening one.
    mutating func list(until close: Character) throws(URLSyntaxError) -> [Expression] {
        var items: [Expression] = []
        var tallest = 0
        cursor.skipWhitespace()
        if !cursor.skip(close) {
            repeat {
                items.append(try item())
                tallest = max(tallest, height)
                cursor.skipWhitespace()
            } while cursor.skip("," as Character)
            try cursor.expect(close, "at the end of the list")
        }
        try setHeight(over: tallest)
        return items
    }
}

extension Expression {
    /// Whether the expression is a primitive value or an enumeration member.
    var isLiteral: Bool {
        switch self {
        case .literal, .enumeration: true
        default: false
        }
    }

    /// Whether the expression consists of a parameter alias only.
    var isAlias: Bool {
        if case .path(let path) = self, case .alias = path.root { path.segments.isEmpty } else { false }
    }
}
