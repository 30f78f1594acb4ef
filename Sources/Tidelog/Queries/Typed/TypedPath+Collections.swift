import EDM
import ODataWire

/// What leads to any number of entities: ``ToManyProperty`` and ``EntitiesPath``.
public protocol ToManyOperand<Target>: Sendable {
    associatedtype Target: EntityValue
    /// The segments of the path from where it starts.
    var queryPath: QueryPath { get }
}

/// Conditions on related entities. In one, `$0` is the entity that is looked at; the `$0` of an outer condition, under a name,
/// may be used as well.
extension ToManyOperand {
    /// Whether there is anything.
    public func any() -> QueryFilter { queryPath.any() }

    /// Whether the condition holds for at least one of the entities: `Customer.orders.any { $0.total > 10 }`.
    public func any(_ condition: (EntityPath<Target>) -> QueryFilter) -> QueryFilter {
        queryPath.condition { .any(.over { condition(EntityPath($0)) }) }
    }

    /// Whether the condition holds for each of the entities, which is so where there is none.
    public func all(_ condition: (EntityPath<Target>) -> QueryFilter) -> QueryFilter {
        queryPath.condition { .all(.over { condition(EntityPath($0)) }) }
    }

    /// How many entities there are.
    public func count() -> TypedFunction<Int> { TypedFunction(queryPath.count()) }

    /// Only those of a derived class: `Person.friends.of(Employee.self).any { $0.salary > 10 }`.
    public func of<Derived: EntityValue>(_ type: Derived.Type) -> EntitiesPath<Derived> {
        EntitiesPath(queryPath.cast(to: type))
    }
}

/// Conditions on collections of values. In one, `$0` is the value that is looked at.
extension StructuralOperand {
    /// Whether there is anything.
    public func any<Item>() -> QueryFilter where Value == [Item] { queryPath.any() }

    /// Whether the condition holds for at least one of the values: `Person.emails.any { $0.endsWith(".org") }`.
    public func any<Item>(_ condition: (TypedPath<Item>) -> QueryFilter) -> QueryFilter where Value == [Item] {
        queryPath.condition { .any(.over(queryType) { condition(TypedPath($0)) }) }
    }

    /// Whether the condition holds for each of the values, which is so where there is none.
    public func all<Item>(_ condition: (TypedPath<Item>) -> QueryFilter) -> QueryFilter where Value == [Item] {
        queryPath.condition { .all(.over(queryType) { condition(TypedPath($0)) }) }
    }

    /// How many values there are.
    public func count<Item>() -> TypedFunction<Int> where Value == [Item] { TypedFunction(queryPath.count()) }

    /// Whether each of these is in the collection, as often as here.
    public func hasSubset<Item: QueryLiteral>(_ items: [Item]) -> QueryFilter where Value == [Item] {
        condition(.hassubset, .list(items.map { .literal($0.queryValue.adapted(toItemOf: queryType), nil) }))
    }

    /// Whether these are in the collection in this order, others in between or not.
    public func hasSubsequence<Item: QueryLiteral>(_ items: [Item]) -> QueryFilter where Value == [Item] {
        condition(.hassubsequence, .list(items.map { .literal($0.queryValue.adapted(toItemOf: queryType), nil) }))
    }
}

/// `Edm.Binary` is an array of bytes in Swift, but no collection.
extension StructuralOperand where Value == [UInt8] {
    @available(*, unavailable, message: "A binary value is no collection.")
    public func any() -> QueryFilter { isNotNull() }
    @available(*, unavailable, message: "A binary value is no collection.")
    public func any(_ condition: (TypedPath<UInt8>) -> QueryFilter) -> QueryFilter { isNotNull() }
    @available(*, unavailable, message: "A binary value is no collection.")
    public func all(_ condition: (TypedPath<UInt8>) -> QueryFilter) -> QueryFilter { isNotNull() }
    @available(*, unavailable, message: "A binary value is no collection.")
    public func count() -> TypedFunction<Int> { TypedFunction(queryPath.count()) }
}

extension Value {
    fileprivate func adapted(toItemOf type: TypeReference?) -> Value { type.map { adapted(to: $0.item) } ?? self }
}

extension TypedFunction<Int> {
    fileprivate init(_ function: QueryFunction) { self.init(function.queryExpression, function.queryType) }
}

extension QueryPath {
    fileprivate func condition(_ segment: () -> ExpressionPath.Segment) -> QueryFilter {
        QueryFilter(
            expression: .path(
                ExpressionPath(root: expressionPath.root, segments: expressionPath.segments + [segment()])))
    }
}

extension ExpressionPath.Lambda {
    /// - Parameter collection: the type of what is looked at, where literals are compared with it.
    fileprivate static func over(
        _ collection: TypeReference? = nil, _ condition: (QueryPath) -> QueryFilter
    ) -> ExpressionPath.Lambda {
        binding { variable in
            condition(QueryPath(ExpressionPath(root: variable, segments: []), collection?.item)).expression
        }
    }
}
