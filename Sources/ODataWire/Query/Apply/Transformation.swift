/// One step of `$apply` (OData Extension for Data Aggregation 4.0, section 3): a collection in, a collection out.
public indirect enum Transformation: Sendable, Hashable {
    case identity
    /// Puts all instances together into one (section 3.2.1).
    case aggregate([AggregateItem])
    /// One result for each combination of values; without transformations just the combinations (section 3.2.3).
    case groupBy([GroupingItem], [Transformation])
    case filter(Expression)
    case search(SearchExpression)
    case compute([ComputeItem])
    case orderBy([OrderItem])
    case top(Int64)
    case skip(Int64)
    /// The results of several sequences behind each other.
    case concat([[Transformation]])
    /// `topcount(2,Amount)` and the like.
    case ranked(Ranking, Expression, by: Expression)
    /// Results of sequences as collections of the one instance of the output.
    case nest([NestedSequence])
    /// Results of sequences over related instances as further properties of each instance.
    case addNested(ExpressionPath, [NestedSequence])
    case join(ExpressionPath, as: String, [Transformation], isOuter: Bool)
    /// `ancestors` and `descendants` in a recursive hierarchy.
    case relatives(Relatives)
    case traverse(Traversal)
    /// A set transformation that the service defines.
    case function(String, [ExpressionPath.Argument])

    public enum Ranking: String, Sendable, Hashable, CaseIterable {
        case topcount, topsum, toppercent, bottomcount, bottomsum, bottompercent

        /// Whether the highest values come first.
        public var isTop: Bool { rawValue.hasPrefix("top") }
    }

    /// `transformations as Name`.
    public struct NestedSequence: Sendable, Hashable {
        public var transformations: [Transformation]
        public var name: String
    }

    /// Where the nodes of a hierarchy are, its qualifier, and the property that names a node.
    public struct Hierarchy: Sendable, Hashable {
        public var nodes: ExpressionPath
        public var qualifier: String
        public var node: ExpressionPath
    }

    public struct Relatives: Sendable, Hashable {
        public enum Direction: String, Sendable, Hashable { case ancestors, descendants }

        public var direction: Direction
        public var hierarchy: Hierarchy
        /// The nodes to start from.
        public var start: [Transformation]
        public var distance: Int64?
        public var keepsStart: Bool
    }

    /// The nodes of a hierarchy in the order of a walk through it.
    public struct Traversal: Sendable, Hashable {
        public enum Order: String, Sendable, Hashable { case preorder, postorder }

        public var hierarchy: Hierarchy
        public var order: Order
        /// Picks the nodes that are walked through; empty for all of them.
        public var nodes: [Transformation] = []
        /// Sorts nodes below the same parent.
        public var siblings: [OrderItem] = []
    }

    /// Whether every instance that comes out went in as it is.
    var preservesInstances: Bool {
        switch self {
        case .identity, .filter, .search, .orderBy, .top, .skip, .ranked, .relatives, .traverse, .function: true
        case .aggregate, .groupBy, .compute, .concat, .nest, .addNested, .join: false
        }
    }

    /// Whether the transformation is, or as a function of the service may be, one over a hierarchy.
    var isHierarchical: Bool {
        switch self {
        case .relatives, .traverse, .function: true
        default: false
        }
    }

    /// What messages call the transformation.
    public var name: String {
        switch self {
        case .identity: "identity"
        case .aggregate: "aggregate"
        case .groupBy: "groupby"
        case .filter: "filter"
        case .search: "search"
        case .compute: "compute"
        case .orderBy: "orderby"
        case .top: "top"
        case .skip: "skip"
        case .concat: "concat"
        case .ranked(let ranking, _, _): ranking.rawValue
        case .nest: "nest"
        case .addNested: "addnested"
        case .join(_, _, _, let isOuter): isOuter ? "outerjoin" : "join"
        case .relatives(let relatives): relatives.direction.rawValue
        case .traverse: "traverse"
        case .function(let name, _): name
        }
    }
}

/// One item of `groupby`.
public enum GroupingItem: Sendable, Hashable {
    /// A property or single-valued navigation property, or one behind single-valued navigation properties.
    case property(ExpressionPath)
    /// The levels of a hierarchy, the highest first.
    case rollup([ExpressionPath])
    case recursiveRollup(Transformation.Hierarchy, [Transformation])
}

/// How values become one (section 3.1.4.1). Of null and of missing instances none takes notice.
public enum AggregationMethod: Sendable, Hashable {
    case sum, min, max, average, countDistinct
    /// One that the service defines.
    case custom(String)

    static let standard: [String: AggregationMethod] = [
        "sum": .sum, "min": .min, "max": .max, "average": .average, "countdistinct": .countDistinct,
    ]

    var name: String {
        if case .custom(let name) = self { return name }
        return Self.standard.first { $0.value == self }?.key ?? ""
    }
}

/// `Amount with sum as Total`.
public struct AggregateItem: Sendable, Hashable {
    public enum Subject: Sendable, Hashable {
        /// The values of an expression, aggregated by a method.
        case values(Expression, AggregationMethod)
        /// `$count`, or `Sales/$count`: the number of instances.
        case count(ExpressionPath)
        /// An aggregate that the service defines, by its name.
        case custom(ExpressionPath)
    }

    /// `from Time with average`: aggregates stepwise.
    public struct Step: Sendable, Hashable {
        public var properties: [ExpressionPath]
        /// Nil for a custom aggregate that knows how.
        public var method: AggregationMethod?
    }

    public var subject: Subject
    /// The innermost first.
    public var steps: [Step]
    /// Nil for a custom aggregate under its own name, and within expressions.
    public var name: String?

    public init(_ subject: Subject, steps: [Step] = [], as name: String? = nil) {
        self.subject = subject
        self.steps = steps
        self.name = name
    }
}
