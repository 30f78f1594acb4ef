/// What a single-valued navigation property leads to.
public struct ToOne<Target: EntityValue>: ExpressibleByNilLiteral {
    public init(nilLiteral: ()) {}
}

extension EntityValue {
    /// What a single-valued navigation property leads to; see ``ToOne``.
    public subscript<Owner, Target>(property: ToOneProperty<Owner, Target>) -> ToOne<Target> {
        get { nil }
        set {}
    }
}
