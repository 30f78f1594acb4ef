internal import EDM

/// A parser for the values in parentheses after a name: those of a key predicate, or the named arguments of a function.
struct ArgumentListParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    /// Parses the values of a key predicate including the closing parenthesis, after the opening one.
    ///
    /// A key is one literal or parameter alias, or several with names, without white space (OData 4.01 Part 2, section
    /// 4.3.1).
    mutating func keyValues() throws(URLSyntaxError) -> [ExpressionPath.Argument] {
        var arguments: [ExpressionPath.Argument] = []
        repeat {
            let start = cursor.offset
            var name = cursor.identifier()
            if name == nil || !cursor.skip("=" as Character) {
                name = nil
                cursor.offset = start
            }
            if let first = arguments.first, first.name == nil || name == nil {
                throw cursor.error("The values of a key with several properties must be named.", .invalidKey, at: start)
            }
            try checkNew(name, among: arguments, .invalidKey, at: start)
            arguments.append(ExpressionPath.Argument(name: name, value: try keyValue()))
        } while cursor.skip("," as Character)
        try cursor.expect(")", "after the key")
        height = 1
        return arguments
    }

    private mutating func keyValue() throws(URLSyntaxError) -> Expression {
        let start = cursor.offset
        let value = try literalOrAlias()
        switch value {
        case .path, .enumeration: return value
        case .literal(let literal, _):
            switch literal {
            case .null, .binary, .raw: break
            default: return value
            }
        default: break
        }
        throw cursor.error("A value of this kind cannot be part of a key.", .invalidKey, at: start)
    }

    private mutating func literalOrAlias() throws(URLSyntaxError) -> Expression {
        let start = cursor.offset
        if cursor.skip("@" as Character), let name = cursor.identifier() {
            return .path(ExpressionPath(root: .alias(name), segments: []))
        }
        cursor.offset = start
        guard let literal = try literal() else { throw cursor.error("Expected a literal or a parameter alias.") }
        return literal
    }

    private func checkNew(
        _ name: String?, among arguments: [ExpressionPath.Argument], _ code: URLSyntaxError.Code, at place: Int
    ) throws(URLSyntaxError) {
        guard let name, arguments.contains(where: { $0.name == name }) else { return }
        throw cursor.error("\(name) occurs twice.", code, at: place)
    }

    /// Returns whether a key predicate begins at the current parenthesis.
    func startsKey() -> Bool {
        var ahead = self
        ahead.cursor.offset += 1
        return (try? ahead.keyValues()) != nil
    }

    // MARK: Arguments

    /// Returns whether named arguments, or none, follow the current parenthesis.
    func startsNamedArguments() -> Bool {
        var ahead = cursor
        ahead.offset += 1
        ahead.skipWhitespace()
        if ahead.skip(")" as Character) { return true }
        guard ahead.identifier() != nil else { return false }
        ahead.skipWhitespace()
        return ahead.skip("=" as Character)
    }

    /// Parses the named arguments of a function in an expression including the closing parenthesis, after the opening
    /// one.
    mutating func expressions() throws(URLSyntaxError) -> [ExpressionPath.Argument] {
        try namedArguments { (parser) throws(URLSyntaxError) in try parser.item() }
    }

    /// Parses the named arguments of a function in a resource path, which must be literals and parameter aliases.
    mutating func literals() throws(URLSyntaxError) -> [ExpressionPath.Argument] {
        try namedArguments { (parser) throws(URLSyntaxError) in
            parser.height = 1
            return try parser.literalOrAlias()
        }
    }

    private mutating func namedArguments(
        _ value: (inout Self) throws(URLSyntaxError) -> Expression
    ) throws(URLSyntaxError) -> [ExpressionPath.Argument] {
        var arguments: [ExpressionPath.Argument] = []
        var tallest = 0
        cursor.skipWhitespace()
        if !cursor.skip(")" as Character) {
            repeat {
                cursor.skipWhitespace()
                let start = cursor.offset
                guard let name = cursor.identifier(), cursor.skip("=" as Character) else {
                    throw cursor.error("Expected the name of a parameter and \"=\".", .invalidParameter, at: start)
                }
                try checkNew(name, among: arguments, .invalidParameter, at: start)
                arguments.append(ExpressionPath.Argument(name: name, value: try value(&self)))
                tallest = max(tallest, height)
                cursor.skipWhitespace()
            } while cursor.skip("," as Character)
            try cursor.expect(")", "after the arguments")
        }
        height = tallest
        return arguments
    }
}
