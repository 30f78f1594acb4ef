public import EDM
import ODataQuery

/// A path of properties: `customer.path(address).path(city)`.
public struct QueryPath: DynamicOperand, Hashable {
    let expressionPath: ExpressionPath
    /// The type of the last segment, or `nil` if the compared literal determines it.
    public let queryType: TypeReference?
    /// The path as an expression of the query.
    public var queryExpression: QueryExpression { QueryExpression(.path(expressionPath)) }

    init(_ path: ExpressionPath, _ type: TypeReference?) {
        expressionPath = path
        queryType = type
    }

    /// Returns the path extended by a property of its target.
    public func path(_ property: some PropertyReference) -> QueryPath {
        let property = property.property
        return QueryPath(
            ExpressionPath(root: expressionPath.root, segments: expressionPath.segments + [.property(property.name)]),
            property.type)
    }

    /// Returns the path to a value by the name that ``DataQuery/compute(_:as:)`` or an aggregate assigned.
    public static func named(_ name: String) -> QueryPath {
        QueryPath(ExpressionPath(segments: [.property(name)]), nil)
    }
}

/// An operand of ``DataQuery/select(_:)``: a property, or a path to a part of a complex value.
public protocol SelectOperand: Sendable {
    /// The segments of the path from its start.
    var queryPath: QueryPath { get }
}

/// An operand that a path can extend: a property, or a path.
public protocol QueryPathOperand: QueryOperand, SelectOperand {}

extension QueryPath: QueryPathOperand {
    /// The path itself.
    public var queryPath: QueryPath { self }
}

extension PropertyReference {
    /// The path that consists of this property.
    public var queryPath: QueryPath { QueryPath(ExpressionPath(segments: [.property(property.name)]), property.type) }
}

extension ExpressionPath {
    /// The path in the form of `$select`. A selectable path contains only properties and types.
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

    /// Returns the path to a property of this property's target.
    public func path(_ property: some PropertyReference) -> QueryPath { queryPath.path(property) }
}

/// Conditions on collections: related entities, or values.
extension QueryPathOperand where Self: DynamicOperand {
    /// Returns a condition that is true if the collection is not empty.
    public func any() -> QueryFilter { lambda { .any(nil) } }

    /// Returns a condition that is true if at least one item satisfies the given condition.
    ///
    /// - Parameters:
    ///   - variable: the name of the item. Use different names in nested conditions.
    ///   - condition: the condition on the item: `{ $0.path(quantity).greaterThan(5) }`.
    public func any(_ variable: String = "item", where condition: (QueryPath) -> QueryFilter) -> QueryFilter {
        lambda { .any(Self.lambda(variable, condition)) }
    }

    /// Returns a condition that is true if each item satisfies the given condition, as ``any(_:where:)``. True for an
    /// empty collection.
    public func all(_ variable: String = "item", where condition: (QueryPath) -> QueryFilter) -> QueryFilter {
        lambda { .all(Self.lambda(variable, condition)) }
    }

    /// Returns the number of items.
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

/// Conditions on the store's own state of entities. A service rejects them.
extension QueryFilter {
    /// The entity was created locally or has changes that the service has not confirmed.
    public static let isLocal = QueryFilter(expression: .call(.isLocal, []))
    /// An operation on the entity is waiting to be sent or for its response.
    public static let hasPendingChanges = QueryFilter(expression: .call(.hasPendingChanges, []))
    /// The service rejected an operation on the entity.
    public static let isInErrorState = QueryFilter(expression: .call(.isInErrorState, []))
    /// The last download inserted or updated the entity.
    public static let upsertedLastDownload = QueryFilter(expression: .call(.upsertedLastDownload, []))
    /// An entity that is linked to this one was created locally or has changes that the service has not confirmed.
    public static let hasLocalRelatives = QueryFilter(expression: .call(.hasLocalRelatives, []))
    /// An operation on an entity that is linked to this one is waiting to be sent or for its response.
    public static let hasRelativesWithPendingChanges = QueryFilter(
        expression: .call(.hasRelativesWithPendingChanges, []))

    /// Returns a condition that is true if the target of the navigation property is in the store.
    public static func entityExists(_ property: some QueryPathOperand & DynamicOperand) -> QueryFilter {
        QueryFilter(expression: .call(.entityExists, [property.syntax]))
    }

    /// Returns a condition that is true if the target of the navigation property is in the store.
    public static func entityExists(_ property: some ToOneOperand) -> QueryFilter {
        QueryFilter(expression: .call(.entityExists, [property.queryPath.syntax]))
    }
}
