public import EDM
public import ODataWire

/// A path to a structural property: `Order.customer.name`, `Customer.address.city`, or `$0.total` in a condition on a
/// collection; `$0` itself where that is one of values.
public struct TypedPath<Value: PropertyConvertible>: StructuralOperand {
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }

    /// A value by the name that ``DataQuery/compute(_:as:)`` or an aggregate gave it.
    public static func named(_ name: String) -> TypedPath<Value> { TypedPath(QueryPath.named(name)) }
}

/// A path to one entity at most: `Order.customer`, `$0` in a condition on related entities, or the entity in question as one
/// of a class: `EntityPath(Employee.self).salary`.
public struct EntityPath<Target: EntityValue>: ToOneOperand {
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }

    /// The entity that the condition is about, if it is of that class; for properties that only a derived type has.
    public init(_ type: Target.Type) { queryPath = QueryPath(ExpressionPath(segments: []), nil).cast(to: type) }
}

/// A path to any number of entities: `Order.customer.orders`.
public struct EntitiesPath<Target: EntityValue>: ToManyOperand {
    public let queryPath: QueryPath

    init(_ path: QueryPath) { queryPath = path }
}

/// What is, or leads to, a structural property: ``StructuralProperty`` and ``TypedPath``.
///
/// The properties of a complex value are members: `Customer.address.city`. Where one is called like a member of this
/// protocol, use `path`: `Customer.address.path(Address.length)`.
@dynamicMemberLookup
public protocol StructuralOperand<Value>: TypedOperand, QueryPathOperand where Value: PropertyConvertible {}

extension StructuralOperand {
    public var queryExpression: Expression { queryPath.queryExpression }
    public var queryType: TypeReference? { queryPath.queryType }

    /// A property of the complex value.
    public subscript<Owner, Item>(
        dynamicMember member: KeyPath<Value.Type, StructuralProperty<Owner, Item>>
    ) -> TypedPath<Item> {
        TypedPath(queryPath.path(Value.self[keyPath: member]))
    }

    /// A property of the complex value.
    public func path<Item>(_ property: StructuralProperty<Value, Item>) -> TypedPath<Item> {
        TypedPath(queryPath.path(property))
    }
}

/// What leads to one entity at most: ``ToOneProperty`` and ``EntityPath``.
///
/// The properties of the entity's class are members, inherited ones too: `Order.customer.name`. Where one is called like a
/// member of this protocol or of what conforms to it (`property`, `path`, `of`), use `path`:
/// `Order.customer.path(Customer.property)`.
@dynamicMemberLookup
public protocol ToOneOperand<Target>: Sendable {
    associatedtype Target: EntityValue
    /// The segments of the path from where it starts.
    var queryPath: QueryPath { get }
}

extension ToOneOperand {
    public subscript<Owner, Value>(
        dynamicMember member: KeyPath<Target.Type, StructuralProperty<Owner, Value>>
    ) -> TypedPath<Value> {
        TypedPath(queryPath.path(Target.self[keyPath: member]))
    }

    public subscript<Owner, Next>(
        dynamicMember member: KeyPath<Target.Type, ToOneProperty<Owner, Next>>
    ) -> EntityPath<Next> {
        EntityPath(queryPath.path(Target.self[keyPath: member]))
    }

    public subscript<Owner, Next>(
        dynamicMember member: KeyPath<Target.Type, ToManyProperty<Owner, Next>>
    ) -> EntitiesPath<Next> {
        EntitiesPath(queryPath.path(Target.self[keyPath: member]))
    }

    /// A property of the entity, which its own class declares. For inherited ones use the member.
    public func path<Value>(_ property: StructuralProperty<Target, Value>) -> TypedPath<Value> {
        TypedPath(queryPath.path(property))
    }

    public func path<Next>(_ property: ToOneProperty<Target, Next>) -> EntityPath<Next> {
        EntityPath(queryPath.path(property))
    }

    public func path<Next>(_ property: ToManyProperty<Target, Next>) -> EntitiesPath<Next> {
        EntitiesPath(queryPath.path(property))
    }

    /// A property of which nothing but the metadata is known.
    public func path(_ property: Property) -> QueryPath { queryPath.path(property) }

    /// The entity as one of a derived class; nothing where it is no such entity.
    public func of<Derived: EntityValue>(_ type: Derived.Type) -> EntityPath<Derived> {
        EntityPath(queryPath.cast(to: type))
    }

    /// Whether the entity is of that class or of one derived from it.
    public func isOf(_ type: (some EntityValue).Type) -> QueryFilter {
        QueryFilter(expression: .isof(queryPath.queryExpression, type: type.nameInQueries))
    }

    /// Whether there is no entity.
    public func isNull() -> QueryFilter { queryPath.isNull() }
    public func isNotNull() -> QueryFilter { queryPath.isNotNull() }
    /// `Order.customer == nil`.
    public static func == (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNull() }
    public static func != (a: Self, b: _OptionalNilComparisonType) -> QueryFilter { a.isNotNull() }
}

extension QueryFilter {
    /// Whether the entity in question is of that class or of one derived from it.
    public static func isOf(_ type: (some EntityValue).Type) -> QueryFilter {
        QueryFilter(expression: .isof(nil, type: type.nameInQueries))
    }
}

extension QueryPath {
    /// Only what is of that class goes on.
    func cast(to type: (some EntityValue).Type) -> QueryPath {
        QueryPath(
            ExpressionPath(
                root: expressionPath.root, segments: expressionPath.segments + [.type(type.nameInQueries)]), queryType)
    }
}

extension EntityValue {
    /// A class that stands for no entity type has a name that no metadata know: no entity is of it.
    fileprivate static var nameInQueries: String { entityTypeName ?? "Swift.\(self)" }
}
