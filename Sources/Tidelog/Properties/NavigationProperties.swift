public import EDM

/// A navigation property that leads to one entity at most: `Order.customer`.
public struct ToOneProperty<Owner, Target: EntityValue>: PropertyReference, ToOneOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }

    public var queryPath: QueryPath { property.queryPath }
}

/// A navigation property that leads to any number of entities: `Customer.orders`.
public struct ToManyProperty<Owner, Target: EntityValue>: PropertyReference, ToManyOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }

    public var queryPath: QueryPath { property.queryPath }
}
