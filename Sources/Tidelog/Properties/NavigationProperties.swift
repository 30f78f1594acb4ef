public import EDM

/// A navigation property with at most one target: `Order.customer`.
public struct ToOneProperty<Owner, Target: EntityValue>: NavigationReference, ToOneOperand, Hashable {
    /// The navigation property of the metadata.
    public let property: Property

    /// Creates a reference to a navigation property with at most one target.
    public init(_ property: Property) { self.property = property }
}

/// A navigation property with any number of targets: `Customer.orders`.
public struct ToManyProperty<Owner, Target: EntityValue>: NavigationReference, ToManyOperand, Hashable {
    /// The navigation property of the metadata.
    public let property: Property

    /// Creates a reference to a navigation property with any number of targets.
    public init(_ property: Property) { self.property = property }
}
