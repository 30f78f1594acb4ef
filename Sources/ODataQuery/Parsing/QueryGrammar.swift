internal import EDM

/// A parser of one of the grammars of query options, such as expressions, paths or transformations.
///
/// The grammars contain one another. All parsers of a text continue from one state, so that an expression inside of
/// nested `$expand` options needs no splitting in advance.
protocol QueryGrammar {
    var cursor: QueryCursor { get set }
    var state: QueryParserState { get set }

    init(cursor: QueryCursor, state: QueryParserState)

    mutating func expression() throws(URLSyntaxError) -> Expression
}

extension QueryGrammar {
    init(_ text: String, version: ODataVersion) throws(URLSyntaxError) {
        self.init(cursor: try QueryCursor(text), state: QueryParserState(version))
    }

    var version: ODataVersion { state.version }

    /// The height of the expression that was parsed last.
    var height: Int {
        get { state.height }
        _modify { yield &state.height }
    }

    /// Parses the text at the position with the parser of another grammar, and continues after it.
    mutating func parse<Other: QueryGrammar, T>(
        with _: Other.Type, _ body: (inout Other) throws(URLSyntaxError) -> T
    ) throws(URLSyntaxError) -> T {
        var other = Other(cursor: cursor, state: state)
        defer {
            cursor = other.cursor
            state = other.state
        }
        return try body(&other)
    }

    /// Runs `body` one level deeper, or more levels if it uses more of the stack.
    ///
    /// Even in a debug build, all levels together must fit into the half megabyte of stack of a secondary thread.
    mutating func nested<T>(
        levels: Int = 1, _ body: (inout Self) throws(URLSyntaxError) -> T
    ) throws(URLSyntaxError) -> T {
        try requireDepth(state.nesting + levels)
        state.nesting += levels
        defer { state.nesting -= levels }
        return try body(&self)
    }

    private func requireDepth(_ depth: Int) throws(URLSyntaxError) {
        guard depth <= QueryLimits.height else {
            throw cursor.error("The text has more than \(QueryLimits.height) levels of nesting.", .tooComplex)
        }
    }

    mutating func setHeight(over operands: Int...) throws(URLSyntaxError) {
        height = (operands.max() ?? 0) + 1
        guard height <= QueryLimits.height else {
            throw cursor.error("The expression has more than \(QueryLimits.height) levels.", .tooComplex)
        }
    }

    /// Throws unless only white space follows.
    mutating func expectEnd() throws(URLSyntaxError) {
        cursor.skipWhitespace()
        try cursor.expectEnd()
    }

    // MARK: Expressions in other grammars

    mutating func expression() throws(URLSyntaxError) -> Expression {
        try parse(with: ExpressionParser.self) { (parser) throws(URLSyntaxError) in try parser.expression(atLeast: 1) }
    }

    /// Parses an expression, or a JSON string in its place.
    mutating func item() throws(URLSyntaxError) -> Expression {
        cursor.skipWhitespace()
        guard cursor.peek() == UInt8(ascii: "\"") else { return try expression() }
        height = 1
        return .literal(.string(try jsonString()), .string)
    }

    /// Parses a primitive or enumeration literal at the position, or returns nil if no literal begins there.
    mutating func literal() throws(URLSyntaxError) -> Expression? {
        try parse(with: LiteralParser.self) { (parser) throws(URLSyntaxError) in try parser.urlLiteral() }
    }

    mutating func jsonString() throws(URLSyntaxError) -> String {
        try parse(with: LiteralParser.self) { (parser) throws(URLSyntaxError) in try parser.jsonText() }
    }

    /// Parses a path from its root: `$it/…`, `@alias/…`, `x/…` with a range variable, or a property.
    mutating func path() throws(URLSyntaxError) -> Expression {
        try parse(with: PathParser.self) { (parser) throws(URLSyntaxError) in try parser.rootedPath() }
    }

    /// Parses the named arguments of a function in an expression including the closing parenthesis, after the opening
    /// one.
    mutating func functionArguments() throws(URLSyntaxError) -> [ExpressionPath.Argument] {
        try parse(with: ArgumentListParser.self) { (parser) throws(URLSyntaxError) in try parser.expressions() }
    }
}
