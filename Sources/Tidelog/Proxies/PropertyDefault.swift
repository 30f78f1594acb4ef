import EDM

extension StructuralProperty {
    /// The value of a non-nullable property that is unset: the default of the metadata, otherwise that of the Swift
    /// type.
    var defaultValue: Value {
        property.declaredDefault.flatMap { Value(propertyValue: $0) } ?? Value.propertyDefault
    }
}

extension EntityValue {
    /// The value of a non-nullable property.
    ///
    /// If it is unset or of another type, the value is the default of the metadata, otherwise that of its Swift type
    /// (0, "", false, the first member, the start of 1970).
    public subscript<Owner, T>(required property: StructuralProperty<Owner, T>) -> T {
        get { self[property] ?? property.defaultValue }
        set { self[property] = newValue }
    }
}
