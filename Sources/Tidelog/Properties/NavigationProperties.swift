public import EDM

/// A navigation property that leads to one entity at most: `Order.customer`.
public struct ToOneProperty<Owner, Target: EntityValue>: NavigationReference, ToOneOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}

/// A navigation property that leads to any number of entities: `Customer.orders`.
public struct ToManyProperty<Owner, Target: EntityValue>: NavigationReference, ToManyOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}
