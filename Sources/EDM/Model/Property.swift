/// A structural or navigation property of an entity or complex type, as declared by the type.
///
/// One class represents both kinds, as in the SDK whose names Tidelog follows; ``navigation`` distinguishes them.
public final class Property: Sendable {
    /// The name in payloads, URLs and paths, without a namespace.
    public let name: String
    /// The type; for a navigation property the target's entity type, a collection for an end with multiplicity `*`.
    public let type: TypeReference
    /// For a navigation property, whether the target is optional. A collection is never absent.
    public let isNullable: Bool
    /// The facets of the declaration. A type definition can add further ones.
    public let facets: Facets
    /// The relationship; set for navigation properties only.
    public let navigation: Navigation?
    /// The qualified name of the type that declares the property, which can be a base type of the type in which it
    /// was found.
    public let declaringType: String
    /// The annotations of the property.
    public let annotations: [Annotation]

    /// Creates a property.
    ///
    /// - Parameters:
    ///   - name: the name.
    ///   - type: the type.
    ///   - isNullable: whether the value can be null or the target be absent.
    ///   - facets: the facets.
    ///   - navigation: the relationship of a navigation property; `nil` for a structural property.
    ///   - declaringType: the qualified name of the type that declares the property.
    ///   - annotations: the annotations.
    public init(
        name: String, type: TypeReference, isNullable: Bool = true, facets: Facets = Facets(),
        navigation: Navigation? = nil, declaringType: String, annotations: [Annotation] = []
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.facets = facets
        self.navigation = navigation
        self.declaringType = declaringType
        self.annotations = annotations
    }

    /// A Boolean value that indicates whether it is a navigation property.
    public var isNavigation: Bool { navigation != nil }
    /// A Boolean value that indicates whether the type is a collection.
    public var isCollection: Bool { type.isCollection }
}

extension Property: Hashable {
    public static func == (a: Property, b: Property) -> Bool {
        a === b || (a.name == b.name && a.declaringType == b.declaringType)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(declaringType)
    }
}

extension Property: CustomStringConvertible {
    public var description: String { "\(declaringType)/\(name)" }
}
