public import EDM

/// A structural property of a class: `Customer.contactName`.
///
/// `Owner` is the class that declares it, `Value` the Swift type of what is not null in it; whether it may be null is a
/// matter of the metadata. A collection has an array.
///
/// In a query it is an operand (``TypedOperand``), and `==` of two is a condition. Where properties are to be compared with
/// each other, compare ``property``.
public struct StructuralProperty<Owner, Value: PropertyConvertible>: PropertyReference, StructuralOperand {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}

/// A property whose value is a stream (`Edm.Stream`), which is read and written by calls of its own; see
/// ``DataService/downloadStream(entity:property:)``.
public struct StreamProperty<Owner>: PropertyReference, Hashable {
    public let property: Property

    public init(_ property: Property) { self.property = property }
}

extension EntityValue {
    /// The property's value; nil where it is unset, null, or of another kind. Setting nil means null; the value is checked
    /// when the entity is saved.
    public subscript<Owner, T>(property: StructuralProperty<Owner, T>) -> T? {
        get { self[property.property] }
        set { self[property.property] = newValue }
    }
}
