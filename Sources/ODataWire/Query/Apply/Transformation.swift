/// A step of `$apply` (OData Extension for Data Aggregation 4.0, section 3), which maps a collection to a collection.
public indirect enum Transformation: Sendable, Hashable {
    case identity
    /// Combines all instances into one (section 3.2.1).
    case aggregate([AggregateItem])
    /// Returns one result for each combination of values; without transformations only the combinations (section
    /// 3.2.3).
    case groupBy([GroupingItem], [Transformation])
    case filter(Expression)
    case search(SearchExpression)
    case compute([ComputeItem])
    case orderBy([OrderItem])
    case top(Int64)
    case skip(Int64)
    /// Concatenates the results of several sequences.
    case concat([[Transformation]])
    /// A ranking such as `topcount(2,Amount)`.
    case ranked(Ranking, Expression, by: Expression)
    /// Returns one instance that contains the results of the sequences as collections.
    case nest([NestedSequence])
    /// Adds the results of sequences over related instances to each instance as properties.
    case addNested(ExpressionPath, [NestedSequence])
    case join(ExpressionPath, as: String, [Transformation], isOuter: Bool)
    /// Returns `ancestors` or `descendants` in a recursive hierarchy.
    case relatives(Relatives)
    case traverse(Traversal)
    /// A set transformation that the service defines.
    case function(String, [ExpressionPath.Argument])

    public enum Ranking: String, Sendable, Hashable, CaseIterable {
        case topcount, topsum, toppercent, bottomcount, bottomsum, bottompercent

        /// Whether the highest values are first.
        public var isTop: Bool { rawValue.hasPrefix("top") }
    }

    /// A sequence with a name: `transformations as Name`.
    public struct NestedSequence: Sendable, Hashable {
        public var transformations: [Transformation]
        public var name: String
    }

    /// A hierarchy: the collection of its nodes, its qualifier, and the property that identifies a node.
    public struct Hierarchy: Sendable, Hashable {
        public var nodes: ExpressionPath
        public var qualifier: String
        public var node: ExpressionPath
    }

    public struct Relatives: Sendable, Hashable {
        public enum Direction: String, Sendable, Hashable { case ancestors, descendants }

        public var direction: Direction
        public var hierarchy: Hierarchy
        /// The transformations that select the start nodes.
        public var start: [Transformation]
        public var distance: Int64?
        public var keepsStart: Bool
    }

    /// The nodes of a hierarchy in the order of a traversal.
    public struct Traversal: Sendable, Hashable {
        public enum Order: String, Sendable, Hashable { case preorder, postorder }

        public var hierarchy: Hierarchy
        public var order: Order
        /// The transformations that select the nodes to traverse. Empty for all nodes.
        public var nodes: [Transformation] = []
        /// The order of nodes with the same parent.
        public var siblings: [OrderItem] = []
    }

    /// Whether every output instance is an unchanged input instance.
    var preservesInstances: Bool {
        switch self {
        case .identity, .filter, .search, .orderBy, .top, .skip, .ranked, .relatives, .traverse, .function: true
        case .aggregate, .groupBy, .compute, .concat, .nest, .addNested, .join: false
        }
    }

    /// Whether the transformation is hierarchical, or is a function of the service, which may be.
    var isHierarchical: Bool {
        switch self {
        case .relatives, .traverse, .function: true
        default: false
        }
    }

    /// The name of the transformation in messages.
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

/// An item of `groupby`.
public enum GroupingItem: Sendable, Hashable {
    /// A property or single-valued navigation property, directly or through single-valued navigation properties.
    case property(ExpressionPath)
    /// The levels of a hierarchy, from highest to lowest.
    case rollup([ExpressionPath])
    case recursiveRollup(Transformation.Hierarchy, [Transformation])
}

/// The method that combines values (section 3.1.4.1). All methods ignore null and missing instances.
public enum AggregationMethod: Sendable, Hashable {
    case sum, min, max, average, countDistinct
    /// A method that the service defines.
    case custom(String)

    static let standard: [String: AggregationMethod] = [
        "sum": .sum, "min": .min, "max": .max, "average": .average, "countdistinct": .countDistinct,
    ]

    var name: String {
        if case .custom(let name) = self { return name }
        return Self.standard.first { $0.value == self }?.key ?? ""
    }
}

/// An aggregate such as `Amount with sum as Total`.
public struct AggregateItem: Sendable, Hashable {
    public enum Subject: Sendable, Hashable {
        /// The values of an expression, aggregated by a method.
        case values(Expression, AggregationMethod)
        /// The number of instances: `$count` or `Sales/$count`.
        case count(ExpressionPath)
        /// A custom aggregate that the service defines, given by its name.
        case custom(ExpressionPath)
    }

    /// A step of a stepwise aggregation: `from Time with average`.
    public struct Step: Sendable, Hashable {
        public var properties: [ExpressionPath]
        /// The method, or nil for a custom aggregate that defines its own.
        public var method: AggregationMethod?
    }

    public var subject: Subject
    /// The steps, innermost first.
    public var steps: [Step]
    /// The name of the result. Nil for a custom aggregate under its own name, and within expressions.
    public var name: String?

    public init(_ subject: Subject, steps: [Step] = [], as name: String? = nil) {
        self.subject = subject
        self.steps = steps
        self.name = name
    }
}
