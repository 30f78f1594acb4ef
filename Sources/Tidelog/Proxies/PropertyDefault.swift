import EDM
import ODataWire

extension StructuralProperty {
    /// What the property reads as where it must not be null and has no value: the default of the metadata, or else of the
    /// Swift type.
    var defaultValue: Value {
        property.declaredDefault.flatMap { Value(propertyValue: $0) } ?? Value.propertyDefault
    }
}

extension Property {
    /// The default that the metadata give; nil where they give none, or one that is no value of the type.
    var declaredDefault: EDM.Value? {
        guard let text = facets.defaultValue, !type.isCollection else { return nil }
        if case .enumeration = type.kind { return .enumeration(text) }
        guard let primitive = type.primitive else { return nil }
        return try? PrimitiveLiteral.parse(text, as: primitive, facets: nil, version: .v4, form: .json)
    }
}

extension EntityValue {
    /// The value of a property that must not be null. Where it is unset, or of another kind, that is the default of the
    /// metadata, or else of its Swift type (0, "", false, the first member, the start of 1970).
    public subscript<Owner, T>(required property: StructuralProperty<Owner, T>) -> T {
        get { self[property] ?? property.defaultValue }
        set { self[property] = newValue }
    }
}
