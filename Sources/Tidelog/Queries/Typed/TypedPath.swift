public import EDM
import ODataQuery

/// A path to a structural property: `Order.customer.name`, `Customer.address.city`, or `$0.total` in a condition on
/// related entities. In a condition on a collection of values, `$0` itself.
public struct TypedPath<Value: PropertyConvertible>: StructuralOperand {
    /// The segments of the path from its start.
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }

    /// Returns the path to a value by the name that ``DataQuery/compute(_:as:)`` or an aggregate assigned.
    public static func named(_ name: String) -> TypedPath<Value> { TypedPath(QueryPath.named(name)) }
}

/// A path to at most one entity: `Order.customer`, `$0` in a condition on related entities, or the current entity as
/// an object of a class: `EntityPath(Employee.self).salary`.
public struct EntityPath<Target: EntityValue>: ToOneOperand {
    /// The segments of the path from its start.
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }

    /// Creates a path to the current entity, cast to a class. Use it for properties of a derived type.
    public init(_ type: Target.Type) { queryPath = QueryPath(ExpressionPath(segments: []), nil).cast(to: type) }
}

/// A path to any number of entities: `Order.customer.orders`.
public struct EntitiesPath<Target: EntityValue>: ToManyOperand {
    /// The segments of the path from its start.
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }
}

/// A structural property or a path to one: ``StructuralProperty`` and ``TypedPath``.
///
/// The properties of a complex value are members: `Customer.address.city`. If a property has the name of a member of
/// this protocol, use `path`: `Customer.address.path(Address.length)`.
@dynamicMemberLookup
public protocol StructuralOperand<Value>: TypedOperand, QueryPathOperand where Value: PropertyConvertible {}

extension StructuralOperand {
    /// The path as an expression of the query.
    public var queryExpression: QueryExpression { queryPath.queryExpression }
    /// The type of the last segment, or `nil` if the compared literal determines it.
    public var queryType: TypeReference? { queryPath.queryType }

    /// The path to a property of the complex value.
    public subscript<Owner, Item>(
        dynamicMember member: KeyPath<Value.Type, StructuralProperty<Owner, Item>>
    ) -> TypedPath<Item> {
        TypedPath(queryPath.path(Value.self[keyPath: member]))
    }

    /// Returns the path to a property of the complex value.
    public func path<Item>(_ property: StructuralProperty<Value, Item>) -> TypedPath<Item> {
        TypedPath(queryPath.path(property))
    }
}

/// An operand with at most one target entity: ``ToOneProperty`` and ``EntityPath``.
///
/// The properties of the entity's class, including inherited ones, are members: `Order.customer.name`. If a property
/// has the name of a member of this protocol or of a conforming type (`property`, `path`, `of`), use `path`:
/// `Order.customer.path(Customer.property)`.
@dynamicMemberLookup
public protocol ToOneOperand<Target>: Sendable {
    /// The class of the target entity.
    associatedtype Target: EntityValue
    /// The segments of the path from its start.
    var queryPath: QueryPath { get }
}

extension ToOneOperand {
    /// The path to a structural property of the entity.
    public subscript<Owner, Value>(
        dynamicMember member: KeyPath<Target.Type, StructuralProperty<Owner, Value>>
    ) -> TypedPath<Value> {
        TypedPath(queryPath.path(Target.self[keyPath: member]))
    }

    /// The path to the entity of a navigation property with at most one target.
    public subscript<Owner, Next>(
        dynamicMember member: KeyPath<Target.Type, ToOneProperty<Owner, Next>>
    ) -> EntityPath<Next> {
        EntityPath(queryPath.path(Target.self[keyPath: member]))
    }

    /// The path to the entities of a navigation property with any number of targets.
    public subscript<Owner, Next>(
        dynamicMember member: KeyPath<Target.Type, ToManyProperty<Owner, Next>>
    ) -> EntitiesPath<Next> {
        EntitiesPath(queryPath.path(Target.self[keyPath: member]))
    }

    /// Returns the path to a property that the entity's own class declares. For inherited properties, use the member.
    public func path<Value>(_ property: StructuralProperty<Target, Value>) -> TypedPath<Value> {
        TypedPath(queryPath.path(property))
    }

    /// Returns the path to the target of a navigation property that the entity's own class declares.
    public func path<Next>(_ property: ToOneProperty<Target, Next>) -> EntityPath<Next> {
        EntityPath(queryPath.path(property))
    }

    /// Returns the path to the targets of a navigation property that the entity's own class declares.
    public func path<Next>(_ property: ToManyProperty<Target, Next>) -> EntitiesPath<Next> {
        EntitiesPath(queryPath.path(property))
    }

    /// Returns the path to a property that is known only from the metadata.
    public func path(_ property: Property) -> QueryPath { queryPath.path(property) }

    /// Returns the path to the entity cast to a derived class; leads to nothing if the entity has another class.
    public func of<Derived: EntityValue>(_ type: Derived.Type) -> EntityPath<Derived> {
        EntityPath(queryPath.cast(to: type))
    }

    /// Returns a condition that is true if the entity has the given class or a derived one.
    public func isOf(_ type: (some EntityValue).Type) -> QueryFilter {
        QueryFilter(expression: .isof(queryPath.syntax, type: type.nameInQueries))
    }

    /// Returns a condition that is true if there is no entity.
    public func isNull() -> QueryFilter { queryPath.isNull() }
    /// Returns a condition that is true if there is an entity.
    public func isNotNull() -> QueryFilter { queryPath.isNotNull() }
    /// Returns a condition that is true if there is no entity: `Order.customer == nil`.
    public static func == (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNull() }
    /// Returns a condition that is true if there is an entity: `Order.customer != nil`.
    public static func != (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNotNull() }
}

extension QueryFilter {
    /// Returns a condition that is true if the current entity has the given class or a derived one.
    public static func isOf(_ type: (some EntityValue).Type) -> QueryFilter {
        QueryFilter(expression: .isof(nil, type: type.nameInQueries))
    }
}

extension QueryPath {
    /// Returns the path restricted to entities of the class.
    func cast(to type: (some EntityValue).Type) -> QueryPath {
        QueryPath(
            ExpressionPath(
                root: expressionPath.root, segments: expressionPath.segments + [.type(type.nameInQueries)]), queryType)
    }
}

extension EntityValue {
    /// The type name. A class without entity type has a name that no metadata contains, so that no entity matches.
    fileprivate static var nameInQueries: String { entityTypeName ?? "Swift.\(self)" }
}
