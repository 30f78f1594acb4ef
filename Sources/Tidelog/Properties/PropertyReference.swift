public import EDM

/// A reference to a property: a `Property` of the metadata, or a typed property of a generated class
/// (``StructuralProperty``, ``ToOneProperty``, ``ToManyProperty``, ``StreamProperty``).
///
/// All APIs accept any of them, so that dynamic and generated code can be mixed.
public protocol PropertyReference: SelectOperand {
    /// The property of the metadata.
    var property: Property { get }
}

/// A reference to a navigation property: ``ToOneProperty``, ``ToManyProperty``, or a `Property`, whose kind the
/// metadata determines.
public protocol NavigationReference: PropertyReference {}

extension Property: NavigationReference {}

extension Property: PropertyReference {
    /// The property itself.
    public var property: Property { self }
}
