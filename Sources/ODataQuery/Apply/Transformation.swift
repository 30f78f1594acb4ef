/// A step of `$apply` (OData Extension for Data Aggregation 4.0, section 3), which maps a collection to a collection.
package indirect enum Transformation: Sendable, Hashable {
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

    package enum Ranking: String, Sendable, Hashable, CaseIterable {
        case topcount, topsum, toppercent, bottomcount, bottomsum, bottompercent

        /// Whether the highest values are first.
        package var isTop: Bool { rawValue.hasPrefix("top") }
    }

    /// A sequence with a name: `transformations as Name`.
    package struct NestedSequence: Sendable, Hashable {
        package var transformations: [Transformation]
        package var name: String
    }

    /// A hierarchy: the collection of its nodes, its qualifier, and the property that identifies a node.
    package struct Hierarchy: Sendable, Hashable {
        package var nodes: ExpressionPath
        package var qualifier: String
        package var node: ExpressionPath
    }

    package struct Relatives: Sendable, Hashable {
        package enum Direction: String, Sendable, Hashable { case ancestors, descendants }

        package var direction: Direction
        package var hierarchy: Hierarchy
        /// The transformations that select the start nodes.
        package var start: [Transformation]
        package var distance: Int64?
        package var keepsStart: Bool
    }

    /// The nodes of a hierarchy in the order of a traversal.
    package struct Traversal: Sendable, Hashable {
        package enum Order: String, Sendable, Hashable { case preorder, postorder }

        package var hierarchy: Hierarchy
        package var order: Order
        /// The transformations that select the nodes to traverse. Empty for all nodes.
        package var nodes: [Transformation] = []
        /// The order of nodes with the same parent.
        package var siblings: [OrderItem] = []
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
    package var name: String {
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
package enum GroupingItem: Sendable, Hashable {
    /// A property or single-valued navigation property, directly or through single-valued navigation properties.
    case property(ExpressionPath)
    /// The levels of a hierarchy, from highest to lowest.
    case rollup([ExpressionPath])
    case recursiveRollup(Transformation.Hierarchy, [Transformation])
}

/// The method that combines values (section 3.1.4.1). All methods ignore null and missing instances.
package enum AggregationMethod: Sendable, Hashable {
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
package struct AggregateItem: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// The values of an expression, aggregated by a method.
        case values(Expression, AggregationMethod)
        /// The number of instances: `$count` or `Sales/$count`.
        case count(ExpressionPath)
        /// A custom aggregate that the service defines, given by its name.
        case custom(ExpressionPath)
    }

    /// A step of a stepwise aggregation: `from Time with average`.
    package struct Step: Sendable, Hashable {
        package var properties: [ExpressionPath]
        /// The method, or nil for a custom aggregate that defines its own.
        package var method: AggregationMethod?
    }

    package var subject: Subject
    /// The steps, innermost first.
    package var steps: [Step]
    /// The name of the result. Nil for a custom aggregate under its own name, and within expressions.
    package var name: String?

    package init(_ subject: Subject, steps: [Step] = [], as name: String? = nil) {
        self.subject = subject
        self.steps = steps
        self.name = name
    }
}
