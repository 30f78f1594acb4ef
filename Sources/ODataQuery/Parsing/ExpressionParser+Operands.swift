internal import EDM

extension ExpressionParser {
    /// Parses an operand: a literal, a call, a path, a parenthesized expression, or a JSON value, with the path that
    /// may follow it.
    mutating func primary() throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        let start = cursor.offset
        let byte = cursor.peek()
        switch byte {
        case UInt8(ascii: "("):
            cursor.offset += 1
            let inner = try expression(atLeast: 1)
            cursor.skipWhitespace()
            try cursor.expect(")", "to close the parenthesis at \(start)")
            return try continued(inner)
        case UInt8(ascii: "["):
            cursor.offset += 1
            return .list(try nested { (parser) throws(URLSyntaxError) in try parser.list(until: "]") })
        case UInt8(ascii: "{"):
            cursor.offset += 1
            return try nested { (parser) throws(URLSyntaxError) in try parser.object() }
        case UInt8(ascii: "@"), UInt8(ascii: "$"):
            return try path()
        default:
            break
        }
        if let literal = try literal() {
            height = 1
            if cursor.peek() == UInt8(ascii: "/") {
                throw cursor.error("A literal has no properties.", .misplacedSegment)
            }
            return literal
        }
        guard let name = cursor.qualifiedName() else {
            throw cursor.error(
                cursor.isAtEnd ? "Expected an expression at the end of the text." : "Expected an expression.")
        }
        if cursor.peek() == UInt8(ascii: "("), let special = try call(named: name, at: start) {
            return try continued(special)
        }
        cursor.offset = start
        return try path()
    }

    /// Parses the path that may follow a parenthesized or computed value.
    private mutating func continued(_ expression: Expression) throws(URLSyntaxError) -> Expression {
        guard cursor.peek() == UInt8(ascii: "/") else { return expression }
        let base = height
        let segments = try parse(with: PathParser.self) { (parser) throws(URLSyntaxError) in
            try parser.segments(first: false)
        }
        try setHeight(over: base, height)
        return .path(ExpressionPath(root: .expression(expression), segments: segments))
    }

    // MARK: Calls

    /// Parses the call of a built-in function, with the position at its parenthesis.
    ///
    /// Returns nil for functions that only the model contains, and for a collection with a key.
    private mutating func call(named name: String, at start: Int) throws(URLSyntaxError) -> Expression? {
        let word = version == .v401 ? name.lowercased() : name
        switch word {
        case "isof", "cast":
            cursor.offset += 1
            return try typeFunction(word)
        case "case" where !version.isLegacy:
            cursor.offset += 1
            return try nested { (parser) throws(URLSyntaxError) in try parser.choice() }
        case "substringof" where version.isLegacy:
            cursor.offset += 1
            let arguments = try arguments(of: name, count: 2...2, at: start)
            try checkArguments(.contains, arguments, at: start)
            return .call(.contains, [arguments[1], arguments[0]])
        default:
            break
        }
        if let function = CanonicalFunction.named(word, in: version), function.isKnown(to: version) {
            cursor.offset += 1
            var arguments = try arguments(of: name, count: function.arity(in: version), at: start)
            if function.literalKinds(at: 0) == [.temporal] { arguments = arguments.map { readingDuration($0) } }
            try checkArguments(function, arguments, at: start)
            return .call(function, arguments)
        }
        // In V4, functions of the service are called with named parameters or without any.
        let arguments = ArgumentListParser(cursor: cursor, state: state)
        guard !version.isLegacy, arguments.startsNamedArguments() || arguments.startsKey() else {
            throw cursor.error("\"\(name)\" is not a function.", .unknownFunction, at: start)
        }
        return nil
    }

    /// Returns the duration for a string in a context that requires a duration: 4.01 permits durations without prefix.
    func readingDuration(_ operand: Expression) -> Expression {
        guard version == .v401, case .literal(.string(let text), _) = operand, let duration = DayTimeDuration(text)
        else { return operand }
        return .literal(.duration(duration), .duration)
    }

    private mutating func arguments(
        of name: String, count: ClosedRange<Int>, at start: Int
    ) throws(URLSyntaxError) -> [Expression] {
        let arguments = try nested { (parser) throws(URLSyntaxError) in try parser.list(until: ")") }
        guard count.contains(arguments.count) else {
            let wanted = count.count == 1 ? "\(count.lowerBound)" : "\(count.lowerBound) to \(count.upperBound)"
            throw cursor.error(
                "\"\(name)\" requires \(wanted) arguments, not \(arguments.count).", .wrongArgumentCount, at: start)
        }
        return arguments
    }

    /// Rejects literal arguments of a kind that the function never accepts, which needs no model.
    private func checkArguments(
        _ function: CanonicalFunction, _ arguments: [Expression], at start: Int
    ) throws(URLSyntaxError) {
        if function == .isdefined {
            guard case .path = arguments[0] else {
                throw cursor.error("The argument of isdefined must be a property.", .wrongArgumentType, at: start)
            }
        }
        for (index, argument) in arguments.enumerated() {
            guard case .literal(let value, _) = argument, value != .null,
                let kinds = function.literalKinds(at: index), !kinds.contains(LiteralKind(value))
            else { continue }
            throw cursor.error(
                "Argument \(index + 1) of \"\(function.rawValue)\" cannot be this kind of literal.", .wrongArgumentType,
                at: start)
        }
    }

    /// Parses `isof(type)` or `isof(expression,type)`. V2 writes the type as a string.
    private mutating func typeFunction(_ name: String) throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        var operand: Expression?
        var type = typeName(before: ")")
        height = 0
        if type == nil {
            operand = try nested { (parser) throws(URLSyntaxError) in try parser.expression(atLeast: 1) }
            cursor.skipWhitespace()
            try cursor.expect(",", "before the type")
            cursor.skipWhitespace()
            type = typeName(before: ")")
        }
        guard let type else { throw cursor.error("Expected the name of a type.", .unknownType) }
        try setHeight(over: height)
        return name == "isof" ? .isof(operand, type: type) : .cast(operand, type: type)
    }

    /// Parses a type name, in quotes in V2, including the closing character. If there is none, the position does not
    /// change.
    private mutating func typeName(before close: Character) -> String? {
        let start = cursor.offset
        let isQuoted = version.isLegacy && cursor.skip("'" as Character)
        var name = cursor.qualifiedName()
        if name == "Collection", cursor.skip("(" as Character) {
            name = cursor.qualifiedName().map { "Collection(\($0))" }
            if !cursor.skip(")" as Character) { name = nil }
        }
        if let name, !isQuoted || cursor.skip("'" as Character) {
            cursor.skipWhitespace()
            if cursor.skip(close) { return name }
        }
        cursor.offset = start
        return nil
    }

    // MARK: JSON

    /// Parses the members of a JSON object, after the opening brace.
    private mutating func object() throws(URLSyntaxError) -> Expression {
        var members: [Expression.Member] = []
        var tallest = 0
        cursor.skipWhitespace()
        if !cursor.skip("}" as Character) {
            repeat {
                cursor.skipWhitespace()
                let name = try jsonString()
                cursor.skipWhitespace()
                try cursor.expect(":", "after the name of the member")
                members.append(Expression.Member(name: name, value: try item()))
                tallest = max(tallest, height)
                cursor.skipWhitespace()
            } while cursor.skip("," as Character)
            try cursor.expect("}", "at the end of the object")
        }
        try setHeight(over: tallest)
        return .object(members)
    }
}
