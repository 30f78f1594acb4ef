/// The types of the namespace `Edm`.
enum BuiltInType {
    /// Returns the kind of type with a name in the namespace `Edm`. V2 documents may omit the namespace of primitive
    /// types.
    static func kind(_ name: String) -> TypeReference.ReferencedType? {
        if let primitive = PrimitiveType(rawValue: name) { return .primitive(primitive) }
        if let other = others[name] { return other }
        guard !name.contains(".") else { return nil }
        return PrimitiveType(rawValue: "Edm." + name).map { .primitive($0) } ?? others["Edm." + name]
    }

    /// The abstract base types of all entity and complex types.
    static let entity = "Edm.EntityType"
    static let complex = "Edm.ComplexType"

    static func isAbstract(_ name: String) -> Bool { name == entity || name == complex }

    /// Paths are values in vocabularies only. Some services use `Edm.Float` for a double.
    private static let others: [String: TypeReference.ReferencedType] = [
        "Edm.Float": .primitive(.double),
        entity: .entity(name: entity),
        complex: .complex(name: complex),
        "Edm.AnnotationPath": .primitive(.untyped),
        "Edm.AnyPropertyPath": .primitive(.untyped),
        "Edm.ModelElementPath": .primitive(.untyped),
        "Edm.NavigationPropertyPath": .primitive(.untyped),
        "Edm.PropertyPath": .primitive(.untyped),
        // Collections of entities and null values, in function imports of V2 and annotations.
        "Edm.Null": .primitive(.untyped),
    ]
}
