internal import EDM

/// A parser for paths of expressions: a root, and segments of properties, types, functions, keys and lambdas.
struct PathParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    /// Parses a path from its root: `$it/…`, `@alias/…`, `x/…` with a range variable, or a property.
    mutating func rootedPath() throws(URLSyntaxError) -> Expression {
        let root = try pathRoot()
        height = 0
        let segments: [ExpressionPath.Segment]
        if root == .implicit {
            segments = try self.segments(first: true)
        } else if cursor.peek() == UInt8(ascii: "/") {
            segments = try self.segments(first: false)
        } else {
            segments = []
        }
        if root == .root, segments.isEmpty {
            throw cursor.error("$root must be followed by an entity set, a singleton or a function.")
        }
        try setHeight(over: height)
        return .path(ExpressionPath(root: root, segments: segments))
    }

    private mutating func pathRoot() throws(URLSyntaxError) -> ExpressionPath.Root {
        let start = cursor.offset
        if cursor.skip("$" as Character) {
            switch cursor.identifier() {
            case "it": return .it
            case "this": return .this
            case "these": return .these
            case "root": return .root
            default:
                // `$count` and `$filter(…)` of the current collection are segments.
                cursor.offset = start
                return .implicit
            }
        }
        if cursor.skip("@" as Character) {
            if let name = cursor.identifier(), cursor.peek() != UInt8(ascii: "."), cursor.peek() != UInt8(ascii: "#") {
                return .alias(name)
            }
            cursor.offset = start
            return .implicit
        }
        if let name = cursor.identifier(), state.variables.contains(name), cursor.peek() != UInt8(ascii: "."),
            cursor.peek() != UInt8(ascii: "(")
        {
            return .variable(name)
        }
        cursor.offset = start
        return .implicit
    }

    /// Parses segments separated by slashes. With `first`, the position is at a segment instead of at a slash.
    mutating func segments(first: Bool) throws(URLSyntaxError) -> [ExpressionPath.Segment] {
        var segments: [ExpressionPath.Segment] = []
        var tallest = 0
        var isAtSegment = first
        while isAtSegment || cursor.skip("/" as Character) {
            height = 0
            segments.append(try segment(isFirst: isAtSegment))
            isAtSegment = false
            tallest = max(tallest, height)
            // A key may follow a collection without a slash.
            if cursor.peek() == UInt8(ascii: "(") {
                cursor.offset += 1
                height = 0
                let key = try parse(with: ArgumentListParser.self) { (parser) throws(URLSyntaxError) in
                    try parser.keyValues()
                }
                segments.append(.key(key))
                tallest = max(tallest, height)
            }
            guard segments.count <= QueryLimits.height else {
                throw cursor.error("The path has more than \(QueryLimits.height) segments.", .tooComplex)
            }
        }
        height = tallest
        return segments
    }

    private mutating func segment(isFirst: Bool) throws(URLSyntaxError) -> ExpressionPath.Segment {
        if cursor.peek() == UInt8(ascii: "$") { return try systemSegment() }
        if cursor.skip("@" as Character) {
            guard let name = cursor.annotationName() else { throw cursor.error("Expected the name of an annotation.") }
            return .annotation(name)
        }
        let start = cursor.offset
        guard let name = cursor.qualifiedName() else { throw cursor.error("Expected the name of a property.") }
        let plain: ExpressionPath.Segment = name.utf8.contains(UInt8(ascii: ".")) ? .type(name) : .property(name)
        guard cursor.peek() == UInt8(ascii: "(") else { return plain }
        let word = version == .v401 ? name.lowercased() : name
        if word == "any" || word == "all" {
            cursor.offset += 1
            return try lambda(isAny: word == "any", at: start)
        }
        if word == "aggregate", !isFirst, !version.isLegacy {
            cursor.offset += 1
            let item = try nested(levels: 3) { (parser) throws(URLSyntaxError) in
                try parser.parse(with: ApplyParser.self) { (parser) throws(URLSyntaxError) in
                    try parser.aggregateItem()
                }
            }
            cursor.skipWhitespace()
            try cursor.expect(")", "at the end of aggregate")
            return .aggregate(item)
        }
        // The caller parses a key such as `Customers('ALFKI')`. With names, or if it is empty, it has the form of a
        // function.
        guard ArgumentListParser(cursor: cursor, state: state).startsNamedArguments() else { return plain }
        cursor.offset += 1
        return .function(
            name, try nested(levels: 3) { (parser) throws(URLSyntaxError) in try parser.functionArguments() })
    }

    private mutating func systemSegment() throws(URLSyntaxError) -> ExpressionPath.Segment {
        let start = cursor.offset
        cursor.offset += 1
        switch cursor.identifier() {
        case "count":
            guard cursor.skip("(" as Character) else { return .count(QueryOptions()) }
            let options = try parse(with: SystemQueryOptionParser.self) { (parser) throws(URLSyntaxError) in
                try parser.nestedOptions(allowing: [.filter, .search])
            }
            return .count(options)
        case "filter" where cursor.skip("(" as Character):
            let predicate = try nested(levels: 3) { (parser) throws(URLSyntaxError) in try parser.expression() }
            cursor.skipWhitespace()
            try cursor.expect(")", "at the end of $filter()")
            return .filter(predicate)
        default: throw cursor.error("Expressions do not support this segment.", .unknownSegment, at: start)
        }
    }

    private mutating func lambda(isAny: Bool, at start: Int) throws(URLSyntaxError) -> ExpressionPath.Segment {
        cursor.skipWhitespace()
        if isAny, cursor.skip(")" as Character) { return .any(nil) }
        guard let variable = cursor.identifier() else { throw cursor.error("Expected a range variable.") }
        cursor.skipWhitespace()
        try cursor.expect(":", "after the range variable")
        state.variables.append(variable)
        defer { state.variables.removeLast() }
        let predicate = try nested(levels: 3) { (parser) throws(URLSyntaxError) in try parser.expression() }
        cursor.skipWhitespace()
        try cursor.expect(")", "at the end of the lambda expression")
        let lambda = ExpressionPath.Lambda(variable: variable, predicate: predicate)
        return isAny ? .any(lambda) : .all(lambda)
    }
}
