public import EDM

/// What names a property: a `Property` of the metadata, or one that also knows its Swift type, as generated classes declare
/// them (``StructuralProperty``, ``ToOneProperty``, ``ToManyProperty``, ``StreamProperty``).
///
/// Whatever takes one takes the others, so that code of the dynamic API and of generated classes can be mixed.
public protocol PropertyReference: SelectOperand {
    var property: Property { get }
}

/// What leads from an entity to others: ``ToOneProperty``, ``ToManyProperty``, and any `Property`, of which the metadata
/// know whether it does.
public protocol NavigationReference: PropertyReference {}

extension Property: NavigationReference {}

extension Property: PropertyReference {
    public var property: Property { self }
}
