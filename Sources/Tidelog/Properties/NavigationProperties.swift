public import EDM

/// A navigation property with at most one target: `Order.customer`.
public struct ToOneProperty<Owner, Target: EntityValue>: NavigationReference, ToOneOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}

/// A navigation property with any number of targets: `Customer.orders`.
public struct ToManyProperty<Owner, Target: EntityValue>: NavigationReference, ToManyOperand, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}
