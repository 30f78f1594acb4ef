internal import EDM

/// A parser for the transformations of `$apply` (OData Extension for Data Aggregation 4.0).
struct ApplyParser: QueryGrammar {
    var cursor: QueryCursor
    var state: QueryParserState

    /// Parses transformations joined with slashes.
    mutating func apply() throws(URLSyntaxError) -> [Transformation] {
        try nested(levels: 3) { (parser) throws(URLSyntaxError) in
            var transformations: [Transformation] = []
            repeat {
                transformations.append(try parser.transformation())
            } while parser.cursor.skip("/" as Character)
            return transformations
        }
    }

    private mutating func transformation() throws(URLSyntaxError) -> Transformation {
        cursor.skipWhitespace()
        let start = cursor.offset
        guard let name = cursor.qualifiedName() else { throw cursor.error("Expected a transformation.") }
        if name == "identity" { return .identity }
        try cursor.expect("(", "after the name of the transformation")
        guard !name.utf8.contains(UInt8(ascii: ".")) else { return .function(name, try functionArguments()) }
        let result = try transformation(name, at: start)
        cursor.skipWhitespace()
        try cursor.expect(")", "at the end of \(name)")
        return result
    }

    private mutating func transformation(_ word: String, at start: Int) throws(URLSyntaxError) -> Transformation {
        switch word {
        case "aggregate": return .aggregate(try aggregateItems())
        case "groupby": return try groupBy()
        case "filter": return .filter(try expression())
        case "compute": return .compute(try options { (parser) throws(URLSyntaxError) in try parser.compute() })
        case "orderby": return .orderBy(try options { (parser) throws(URLSyntaxError) in try parser.orderBy() })
        case "search": return .search(try applySearch())
        case "top": return .top(try wholeNumber())
        case "skip": return .skip(try wholeNumber())
        case "concat":
            let sequences = try list { (parser) throws(URLSyntaxError) in try parser.apply() }
            guard sequences.count > 1 else { throw cursor.error("concat requires at least two transformations.") }
            return .concat(sequences)
        case "nest": return .nest(try list { (parser) throws(URLSyntaxError) in try parser.nestedSequence() })
        case "addnested":
            let path = try collectionPath()
            try expectComma()
            return .addNested(path, try list { (parser) throws(URLSyntaxError) in try parser.nestedSequence() })
        case "join", "outerjoin":
            let path = try joinedPath()
            let name = try alias()
            var inner: [Transformation] = []
            cursor.skipWhitespace()
            if cursor.skip("," as Character) { inner = try apply() }
            return .join(path, as: name, inner, isOuter: word == "outerjoin")
        case "ancestors", "descendants": return .relatives(try relatives(word))
        case "traverse": return .traverse(try traversal())
        default:
            guard let ranking = Transformation.Ranking(rawValue: word) else {
                throw cursor.error("There is no transformation \(word).", .unknownFunction, at: start)
            }
            let amount = try expression()
            try expectComma()
            return .ranked(ranking, amount, by: try expression())
        }
    }

    // MARK: aggregate

    private mutating func aggregateItems() throws(URLSyntaxError) -> [AggregateItem] {
        try list { (parser) throws(URLSyntaxError) in
            let start = parser.cursor.offset
            let item = try parser.aggregateItem()
            let isCustom = if case .custom = item.subject { true } else { false }
            guard item.name != nil || isCustom && item.steps.isEmpty else {
                throw parser.cursor.error("The aggregate has no name: expected \"as\" and a name.", at: start)
            }
            return item
        }
    }

    /// Parses the content of `aggregate(…)`, as a transformation or as a path segment.
    mutating func aggregateItem() throws(URLSyntaxError) -> AggregateItem {
        cursor.skipWhitespace()
        let start = cursor.offset
        let subject = try expression()
        var item: AggregateItem
        let isBareCount = subject == .path(ExpressionPath(segments: [.count(QueryOptions())]))
        if !isBareCount, let method = try method() {
            item = AggregateItem(.values(subject, method))
        } else if case .path(let path) = subject, case .count(let options)? = path.segments.last,
            options == QueryOptions()
        {
            item = AggregateItem(.count(path))
        } else if case .path(let path) = subject, case .property? = path.segments.last {
            item = AggregateItem(.custom(path))
        } else {
            throw cursor.error("Expected \"with\" and an aggregation method.", at: start)
        }
        while takeWord("from") {
            var properties = [try applyPath()]
            // White space may also separate the keywords after the properties.
            while skipComma() { properties.append(try applyPath()) }
            let method = try method()
            if case .custom = item.subject {
            } else if method == nil {
                throw cursor.error("Expected \"with\" and an aggregation method after \"from\".")
            }
            item.steps.append(AggregateItem.Step(properties: properties, method: method))
        }
        if takeWord("as") { item.name = try name() }
        return item
    }

    private mutating func method() throws(URLSyntaxError) -> AggregationMethod? {
        guard takeWord("with") else { return nil }
        cursor.skipWhitespace()
        guard let name = cursor.qualifiedName() else { throw cursor.error("Expected an aggregation method.") }
        if let method = AggregationMethod.standard[name] { return method }
        guard name.utf8.contains(UInt8(ascii: ".")) else {
            throw cursor.error("\(name) is not an aggregation method.", .unknownFunction)
        }
        return .custom(name)
    }

    // MARK: groupby

    private mutating func groupBy() throws(URLSyntaxError) -> Transformation {
        cursor.skipWhitespace()
        try cursor.expect("(", "before the properties to group by")
        let items = try list { (parser) throws(URLSyntaxError) in try parser.groupingItem() }
        try cursor.expect(")", "after the properties to group by")
        cursor.skipWhitespace()
        return .groupBy(items, cursor.skip("," as Character) ? try apply() : [])
    }

    private mutating func groupingItem() throws(URLSyntaxError) -> GroupingItem {
        cursor.skipWhitespace()
        if cursor.skip("rolluprecursive(") {
            let hierarchy = try hierarchy()
            cursor.skipWhitespace()
            var inner: [Transformation] = []
            if cursor.skip("," as Character) {
                inner = try sequence(
                    of: \.isHierarchical, "rolluprecursive accepts only ancestors, descendants and traverse.")
            }
            cursor.skipWhitespace()
            try cursor.expect(")", "at the end of rolluprecursive")
            return .recursiveRollup(hierarchy, inner)
        }
        if cursor.skip("rollup(") {
            let levels = try list { (parser) throws(URLSyntaxError) in
                parser.cursor.skipWhitespace()
                if parser.cursor.skip("$all") { return ExpressionPath(segments: []) }
                return try parser.applyPath()
            }
            try cursor.expect(")", "at the end of rollup")
            return .rollup(levels)
        }
        return .property(try applyPath())
    }

    // MARK: Hierarchies

    private mutating func hierarchy() throws(URLSyntaxError) -> Transformation.Hierarchy {
        cursor.skipWhitespace()
        let start = cursor.offset
        guard case .path(let nodes) = try path(), nodes.root == .root else {
            throw cursor.error("Expected the nodes of the hierarchy, as a path from $root.", at: start)
        }
        try expectComma()
        let qualifier = try name()
        try expectComma()
        return Transformation.Hierarchy(nodes: nodes, qualifier: qualifier, node: try applyPath())
    }

    private mutating func relatives(_ word: String) throws(URLSyntaxError) -> Transformation.Relatives {
        let hierarchy = try hierarchy()
        try expectComma()
        var relatives = Transformation.Relatives(
            direction: word == "ancestors" ? .ancestors : .descendants, hierarchy: hierarchy,
            start: try preservingSequence(), distance: nil, keepsStart: false)
        cursor.skipWhitespace()
        while !relatives.keepsStart, cursor.skip("," as Character) {
            cursor.skipWhitespace()
            if relatives.distance == nil, let distance = cursor.digits() {
                relatives.distance = distance
            } else if keyword() == "keep", keyword() == "start" {
                relatives.keepsStart = true
            } else {
                throw cursor.error("Expected a distance or \"keep start\".")
            }
            cursor.skipWhitespace()
        }
        return relatives
    }

    private mutating func traversal() throws(URLSyntaxError) -> Transformation.Traversal {
        let hierarchy = try hierarchy()
        try expectComma()
        guard let order = keyword().flatMap(Transformation.Traversal.Order.init(rawValue:)) else {
            throw cursor.error("Expected preorder or postorder.")
        }
        var traversal = Transformation.Traversal(hierarchy: hierarchy, order: order)
        guard skipComma() else { return traversal }
        if startsPreservingSequence() {
            traversal.nodes = try preservingSequence()
            guard skipComma() else { return traversal }
        }
        traversal.siblings = try options { (parser) throws(URLSyntaxError) in try parser.orderBy() }
        return traversal
    }

    /// Returns whether transformations follow, as opposed to a sort term. Either may begin with the name of a function
    /// of the service.
    private func startsPreservingSequence() -> Bool {
        var ahead = self
        guard let name = ahead.keyword() else { return false }
        ahead.cursor.skipWhitespace()
        switch name {
        case "identity":
            return [UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: "/"), 0].contains(ahead.cursor.peek())
        case "filter", "search", "orderby", "top", "skip", "ancestors", "descendants", "traverse":
            return ahead.cursor.peek() == UInt8(ascii: "(")
        default: break
        }
        if Transformation.Ranking(rawValue: name) != nil { return ahead.cursor.peek() == UInt8(ascii: "(") }
        ahead = self
        ahead.cursor.skipWhitespace()
        guard let function = ahead.cursor.qualifiedName(), function.utf8.contains(UInt8(ascii: ".")),
            ahead.cursor.skip("(" as Character), (try? ahead.functionArguments()) != nil
        else { return false }
        if ahead.cursor.skip("/" as Character) { return ahead.startsPreservingSequence() }
        ahead.cursor.skipWhitespace()
        return ahead.cursor.peek() == UInt8(ascii: ",") || ahead.cursor.peek() == UInt8(ascii: ")")
    }

    private mutating func preservingSequence() throws(URLSyntaxError) -> [Transformation] {
        try sequence(of: \.preservesInstances, "Only transformations that do not change instances are allowed here.")
    }

    private mutating func sequence(
        of isAllowed: (Transformation) -> Bool, _ refusal: String
    ) throws(URLSyntaxError) -> [Transformation] {
        cursor.skipWhitespace()
        let start = cursor.offset
        let sequence = try apply()
        guard sequence.allSatisfy(isAllowed) else { throw cursor.error(refusal, .misplacedSegment, at: start) }
        return sequence
    }

    // MARK: Common parts

    /// Parses a list that is also the value of a system query option.
    private mutating func options<T>(
        _ body: (inout SystemQueryOptionParser) throws(URLSyntaxError) -> T
    ) throws(URLSyntaxError) -> T {
        try parse(with: SystemQueryOptionParser.self, body)
    }

    /// Parses at least one item, separated by commas.
    private mutating func list<T>(
        _ item: (inout Self) throws(URLSyntaxError) -> T
    ) throws(URLSyntaxError) -> [T] {
        var items: [T] = []
        repeat {
            items.append(try item(&self))
            cursor.skipWhitespace()
        } while cursor.skip("," as Character)
        return items
    }

    private mutating func nestedSequence() throws(URLSyntaxError) -> Transformation.NestedSequence {
        let inner = try apply()
        return Transformation.NestedSequence(transformations: inner, name: try alias())
    }

    /// Parses a path of property and type names. A type must be followed by a property.
    private mutating func applyPath() throws(URLSyntaxError) -> ExpressionPath {
        let path = try collectionPath()
        if case .type? = path.segments.last { throw cursor.error("Expected a property of that type.") }
        return path
    }

    /// Parses the target of a join: a collection-valued property or an annotation.
    private mutating func joinedPath() throws(URLSyntaxError) -> ExpressionPath {
        cursor.skipWhitespace()
        guard cursor.skip("@" as Character) else { return try collectionPath() }
        guard let name = cursor.annotationName() else { throw cursor.error("Expected the name of an annotation.") }
        return ExpressionPath(segments: [.annotation(name)])
    }

    /// Parses a path of property and type names. A type may also be at the end, where it filters the property's
    /// targets.
    private mutating func collectionPath() throws(URLSyntaxError) -> ExpressionPath {
        cursor.skipWhitespace()
        var segments: [ExpressionPath.Segment] = []
        repeat {
            guard let name = cursor.qualifiedName() else { throw cursor.error("Expected the name of a property.") }
            segments.append(name.utf8.contains(UInt8(ascii: ".")) ? .type(name) : .property(name))
            guard segments.count <= QueryLimits.height else {
                throw cursor.error("The path has more than \(QueryLimits.height) segments.", .tooComplex)
            }
        } while cursor.skip("/" as Character)
        if segments.count == 1, case .type? = segments.last {
            throw cursor.error("Expected a property of that type.")
        }
        return ExpressionPath(segments: segments)
    }

    /// Parses a search expression. A phrase may also be in single quotes, so that it can contain a parenthesis.
    private mutating func applySearch() throws(URLSyntaxError) -> SearchExpression {
        cursor.skipWhitespace()
        guard cursor.peek() == UInt8(ascii: "'") else {
            return try parse(with: SearchParser.self) { (parser) throws(URLSyntaxError) in try parser.search() }
        }
        guard case .literal(.string(let phrase), _)? = try literal() else {
            throw cursor.error("Expected a search expression.")
        }
        return .phrase(phrase)
    }

    private mutating func alias() throws(URLSyntaxError) -> String {
        guard takeWord("as") else { throw cursor.error("Expected \"as\" and a name.") }
        return try name()
    }

    private mutating func name() throws(URLSyntaxError) -> String {
        cursor.skipWhitespace()
        guard let name = cursor.identifier() else { throw cursor.error("Expected a name.") }
        return name
    }

    private mutating func wholeNumber() throws(URLSyntaxError) -> Int64 {
        cursor.skipWhitespace()
        guard let number = cursor.digits() else { throw cursor.error("Expected a nonnegative integer.") }
        return number
    }

    private mutating func keyword() -> String? {
        cursor.skipWhitespace()
        return cursor.identifier()
    }

    /// Consumes a comma. If there is none, the position stays before the white space.
    private mutating func skipComma() -> Bool {
        let start = cursor.offset
        cursor.skipWhitespace()
        if cursor.skip("," as Character) { return true }
        cursor.offset = start
        return false
    }

    private mutating func expectComma() throws(URLSyntaxError) {
        cursor.skipWhitespace()
        try cursor.expect(",", "between the arguments")
    }

    /// Consumes a word that is preceded by white space. If there is none, the position does not change.
    private mutating func takeWord(_ word: String) -> Bool {
        let start = cursor.offset
        if cursor.skipWhitespace(), cursor.identifier() == word { return true }
        cursor.offset = start
        return false
    }
}
