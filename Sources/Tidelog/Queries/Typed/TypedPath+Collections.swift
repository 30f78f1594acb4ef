import EDM
import ODataQuery

/// An operand with any number of target entities: ``ToManyProperty`` and ``EntitiesPath``.
public protocol ToManyOperand<Target>: Sendable {
    /// The class of the target entities.
    associatedtype Target: EntityValue
    /// The segments of the path from its start.
    var queryPath: QueryPath { get }
}

/// Conditions on related entities. In a condition, `$0` is the current entity. An inner condition can use the `$0` of
/// an outer one if that is bound to a name.
extension ToManyOperand {
    /// Returns a condition that is true if there is at least one entity.
    public func any() -> QueryFilter { queryPath.any() }

    /// Returns a condition that is true if at least one entity satisfies the given condition: `Customer.orders.any {
    /// $0.total > 10 }`.
    public func any(_ condition: (EntityPath<Target>) -> QueryFilter) -> QueryFilter {
        queryPath.condition { .any(.over { condition(EntityPath($0)) }) }
    }

    /// Returns a condition that is true if each entity satisfies the given condition. True if there is none.
    public func all(_ condition: (EntityPath<Target>) -> QueryFilter) -> QueryFilter {
        queryPath.condition { .all(.over { condition(EntityPath($0)) }) }
    }

    /// Returns the number of entities.
    public func count() -> TypedFunction<Int> { TypedFunction(queryPath.count()) }

    /// Returns the number of entities that satisfy the condition: `Customer.orders.count { Order.total > 10 } > 2`.
    ///
    /// The condition contains the properties of the related entities themselves.
    public func count(_ condition: () -> QueryFilter) -> TypedFunction<Int> {
        var options = QueryOptions()
        options.filter = condition().expression
        let path = ExpressionPath(
            root: queryPath.expressionPath.root, segments: queryPath.expressionPath.segments + [.count(options)])
        return TypedFunction(.path(path), TypeReference(.primitive(.int64)))
    }

    /// Returns the entities of a derived class only: `Person.friends.of(Employee.self).any { $0.salary > 10 }`.
    public func of<Derived: EntityValue>(_ type: Derived.Type) -> EntitiesPath<Derived> {
        EntitiesPath(queryPath.cast(to: type))
    }
}

/// Conditions on collections of values. In a condition, `$0` is the current value.
extension StructuralOperand {
    /// Returns a condition that is true if the collection is not empty.
    public func any<Item>() -> QueryFilter where Value == [Item] { queryPath.any() }

    /// Returns a condition that is true if at least one value satisfies the given condition: `Person.emails.any {
    /// $0.endsWith(".org") }`.
    public func any<Item>(_ condition: (TypedPath<Item>) -> QueryFilter) -> QueryFilter where Value == [Item] {
        queryPath.condition { .any(.over(queryType) { condition(TypedPath($0)) }) }
    }

    /// Returns a condition that is true if each value satisfies the given condition. True for an empty collection.
    public func all<Item>(_ condition: (TypedPath<Item>) -> QueryFilter) -> QueryFilter where Value == [Item] {
        queryPath.condition { .all(.over(queryType) { condition(TypedPath($0)) }) }
    }

    /// Returns the number of values.
    public func count<Item>() -> TypedFunction<Int> where Value == [Item] { TypedFunction(queryPath.count()) }

    /// Returns a condition that is true if the collection contains the item: `Person.emails.contains("ada@a.org")`.
    public func contains<Item: QueryLiteral>(_ item: Item) -> QueryFilter where Value == [Item] {
        queryPath.condition {
            .any(.over(queryType) { QueryFilter(expression: .comparison(.eq, $0.syntax, self.item(item))) })
        }
    }

    /// Returns a condition that is true if the collection contains each item at least as often as `items`.
    public func hasSubset<Item: QueryLiteral>(_ items: [Item]) -> QueryFilter where Value == [Item] {
        condition(.hassubset, .list(items.map { item($0) }))
    }

    /// Returns a condition that is true if the collection contains the items in this order, not necessarily adjacent.
    public func hasSubsequence<Item: QueryLiteral>(_ items: [Item]) -> QueryFilter where Value == [Item] {
        condition(.hassubsequence, .list(items.map { item($0) }))
    }
}

extension StructuralOperand {
    /// Returns a literal for a comparison with the items of the collection.
    private func item(_ value: some QueryLiteral) -> Expression {
        guard let type = queryType?.item else { return .literal(value.queryValue, nil) }
        return .literal(value.queryValue(comparedTo: type).adapted(to: type), nil)
    }
}

/// A value of `Edm.Binary` is an array of bytes in Swift, but not a collection in OData.
extension StructuralOperand where Value == [UInt8] {
    /// Unavailable: a binary value has no items.
    @available(*, unavailable, message: "A binary value is not a collection.")
    public func any() -> QueryFilter { isNotNull() }
    /// Unavailable: a binary value has no items.
    @available(*, unavailable, message: "A binary value is not a collection.")
    public func any(_ condition: (TypedPath<UInt8>) -> QueryFilter) -> QueryFilter { isNotNull() }
    /// Unavailable: a binary value has no items.
    @available(*, unavailable, message: "A binary value is not a collection.")
    public func all(_ condition: (TypedPath<UInt8>) -> QueryFilter) -> QueryFilter { isNotNull() }
    /// Unavailable: a binary value has no items.
    @available(*, unavailable, message: "A binary value is not a collection.")
    public func count() -> TypedFunction<Int> { TypedFunction(queryPath.count()) }
}

extension TypedFunction<Int> {
    fileprivate init(_ function: QueryFunction) { self.init(function.syntax, function.queryType) }
}

extension QueryPath {
    fileprivate func condition(_ segment: () -> ExpressionPath.Segment) -> QueryFilter {
        QueryFilter(
            expression: .path(
                ExpressionPath(root: expressionPath.root, segments: expressionPath.segments + [segment()])))
    }
}

extension ExpressionPath.Lambda {
    /// - Parameter collection: the type of the collection, for the comparison with literals.
    fileprivate static func over(
        _ collection: TypeReference? = nil, _ condition: (QueryPath) -> QueryFilter
    ) -> ExpressionPath.Lambda {
        binding { variable in
            condition(QueryPath(ExpressionPath(root: variable, segments: []), collection?.item)).expression
        }
    }
}
