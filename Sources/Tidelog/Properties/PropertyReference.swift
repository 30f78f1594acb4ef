public import EDM

/// What names a property: a `Property` of the metadata, or one that also knows its Swift type, as generated classes declare
/// them (``StructuralProperty``, ``ToOneProperty``, ``ToManyProperty``, ``StreamProperty``).
///
/// Whatever takes one takes the others, so that code of the dynamic API and of generated classes can be mixed.
public protocol PropertyReference: Sendable {
    var property: Property { get }
}

extension Property: PropertyReference {
    public var property: Property { self }
}
