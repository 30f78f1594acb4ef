/// What a collection-valued navigation property leads to.
public struct ToMany<Target: EntityValue> {
    public init() {}
}

extension EntityValue {
    /// What a collection-valued navigation property leads to; see ``ToMany``.
    public subscript<Owner, Target>(property: ToManyProperty<Owner, Target>) -> ToMany<Target> {
        get { ToMany() }
        _modify {
            var relation = ToMany<Target>()
            yield &relation
        }
    }
}
