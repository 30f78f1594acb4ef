public import EDM
public import ODataWire

/// A property behind others: `customer.path(address).path(city)`.
public struct QueryPath: DynamicOperand, Hashable {
    let expressionPath: ExpressionPath
    public let queryType: TypeReference?
    public var queryExpression: Expression { .path(expressionPath) }

    init(_ path: ExpressionPath, _ type: TypeReference?) {
        expressionPath = path
        queryType = type
    }

    /// A property of what the path leads to.
    public func path(_ property: some PropertyReference) -> QueryPath {
        let property = property.property
        return QueryPath(
            ExpressionPath(root: expressionPath.root, segments: expressionPath.segments + [.property(property.name)]),
            property.type)
    }

    /// A property by the name that ``DataQuery/compute(_:as:)`` or an aggregate gave it.
    public static func named(_ name: String) -> QueryPath {
        QueryPath(ExpressionPath(segments: [.property(name)]), nil)
    }
}

/// What ``DataQuery/select(_:)`` takes: properties, and paths to parts of complex values.
public protocol SelectOperand: Sendable {
    /// The segments of the path from where it starts.
    var queryPath: QueryPath { get }
}

/// What can have others behind it: a property, or a path.
public protocol QueryPathOperand: QueryOperand, SelectOperand {}

extension QueryPath: QueryPathOperand {
    public var queryPath: QueryPath { self }
}

extension PropertyReference {
    public var queryPath: QueryPath { QueryPath(ExpressionPath(segments: [.property(property.name)]), property.type) }
}

extension ExpressionPath {
    /// The path as a select writes it. There is nothing but properties and types in what can be selected.
    var selectSegments: [SelectSegment] {
        segments.compactMap { segment in
            switch segment {
            case .property(let name): .name(name)
            case .type(let name): .qualifiedName(name, parameters: nil)
            case .annotation(let name): .annotation(name)
            default: nil
            }
        }
    }
}

extension Property: QueryPathOperand {

    /// A property of what this one leads to.
    public func path(_ property: some PropertyReference) -> QueryPath { queryPath.path(property) }
}

/// Conditions on collections: of entities behind a navigation property, or of values.
extension QueryPathOperand where Self: DynamicOperand {
    /// Whether there is anything.
    public func any() -> QueryFilter { lambda { .any(nil) } }

    /// Whether the condition holds for at least one item.
    ///
    /// - Parameters:
    ///   - variable: what the item is called. Give nested conditions names of their own.
    ///   - condition: says it of the item: `{ $0.path(quantity).greaterThan(5) }`.
    public func any(_ variable: String = "item", where condition: (QueryPath) -> QueryFilter) -> QueryFilter {
        lambda { .any(Self.lambda(variable, condition)) }
    }

    /// Whether the condition holds for each item, which is so where there is none; as ``any(_:where:)``.
    public func all(_ variable: String = "item", where condition: (QueryPath) -> QueryFilter) -> QueryFilter {
        lambda { .all(Self.lambda(variable, condition)) }
    }

    /// How many items there are.
    public func count() -> QueryFunction {
        QueryFunction(appending(.count(QueryOptions())), TypeReference(.primitive(.int64)))
    }

    private func lambda(_ segment: () -> ExpressionPath.Segment) -> QueryFilter {
        QueryFilter(expression: appending(segment()))
    }

    private func appending(_ segment: ExpressionPath.Segment) -> Expression {
        let path = queryPath.expressionPath
        return .path(ExpressionPath(root: path.root, segments: path.segments + [segment]))
    }

    private static func lambda(
        _ variable: String, _ condition: (QueryPath) -> QueryFilter
    ) -> ExpressionPath.Lambda {
        let item = QueryPath(ExpressionPath(root: .variable(variable), segments: []), nil)
        return ExpressionPath.Lambda(variable: variable, predicate: condition(item).expression)
    }
}

/// What only a store knows of its entities. A service refuses these conditions.
extension QueryFilter {
    /// Created here, or with changes that the service does not have yet.
    public static let isLocal = QueryFilter(expression: .call(.isLocal, []))
    /// An operation on the entity waits to be sent, or for its answer.
    public static let hasPendingChanges = QueryFilter(expression: .call(.hasPendingChanges, []))
    /// The service refused an operation on the entity.
    public static let isInErrorState = QueryFilter(expression: .call(.isInErrorState, []))
    /// The last download inserted or changed the entity.
    public static let upsertedLastDownload = QueryFilter(expression: .call(.upsertedLastDownload, []))

    /// The navigation property leads to an entity that is in the store.
    public static func entityExists(_ property: some QueryPathOperand & DynamicOperand) -> QueryFilter {
        QueryFilter(expression: .call(.entityExists, [property.queryExpression]))
    }

    /// The navigation property leads to an entity that is in the store.
    public static func entityExists(_ property: some ToOneOperand) -> QueryFilter {
        QueryFilter(expression: .call(.entityExists, [property.queryPath.queryExpression]))
    }
}
