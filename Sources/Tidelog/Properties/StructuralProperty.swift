public import EDM

/// A structural property of a class: `Customer.contactName`.
///
/// `Owner` is the class that declares the property, `Value` the Swift type of its non-null values; the metadata
/// determines whether it can be null. A collection has an array type.
///
/// In a query the property is an operand (``TypedOperand``), and `==` of two properties is a condition. To compare
/// property references with each other, compare ``property``.
public struct StructuralProperty<Owner, Value: PropertyConvertible>: PropertyReference, StructuralOperand {
    /// The property of the metadata.
    public let property: Property

    /// Creates a reference to a structural property, whose values convert to `Value`.
    public init(_ property: Property) { self.property = property }
}

/// A property whose value is a stream (`Edm.Stream`). It is read and written by separate methods; see
/// ``DataService/downloadStream(entity:property:headers:)``.
public struct StreamProperty<Owner>: PropertyReference, Hashable {
    /// The property of the metadata.
    public let property: Property

    /// Creates a reference to a stream property.
    public init(_ property: Property) { self.property = property }
}

extension EntityValue {
    /// The value of the property; `nil` if it is unset, null, or of another type.
    ///
    /// Setting `nil` sets the property to null. The value is checked when the entity is saved.
    public subscript<Owner, T>(property: StructuralProperty<Owner, T>) -> T? {
        @inlinable get { self[property.property] }
        set { self[property.property] = newValue }
    }
}
