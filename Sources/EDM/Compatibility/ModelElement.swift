/// A model element in comparable form: its name, aspects and children.
///
/// Annotations, the order of elements and derived facts are omitted.
struct ModelElement {
    let kind: ModelElementKind
    /// The last segment of the path.
    let name: String
    /// The name shared by overloads, without their parameters.
    var family: String?
    var aspects: [ModelAspect: String] = [:]
    var children: [ModelElement] = []
    /// The paths of elements with which this one is added and removed: a binding with its navigation property and
    /// target.
    var companions: [String] = []

    init(_ kind: ModelElementKind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// The scopes of unique names. Elements of different spaces are never the same element.
    enum Space: Hashable { case type, association, operation, container, resource, associationSet, part }

    var space: Space {
        switch kind {
        case .entityType, .complexType, .enumerationType, .typeDefinition: .type
        case .association: .association
        case .action, .function: .operation
        case .container: .container
        case .entitySet, .singleton, .actionImport, .functionImport: .resource
        case .associationSet: .associationSet
        case .document, .property, .navigationProperty, .enumerationMember, .associationEnd, .parameter, .returnType,
            .binding:
            .part
        }
    }

    /// Sets the aspects of the type of a property, parameter or result.
    mutating func describe(_ type: TypeReference, isNullable: Bool?, _ facets: Facets, in version: ODataVersion) {
        aspects[.type] = type.text
        if let isNullable { aspects[.nullability] = "\(isNullable)" }
        describe(facets, of: type.primitive, in: version)
    }

    /// Sets the facets, omitting those equal to the default (CSDL 4.01, section 7.2).
    mutating func describe(_ facets: Facets, of type: PrimitiveType?, in version: ODataVersion) {
        aspects[.maxLength] = facets.maxLength.map { $0 == .max ? "max" : "\($0)" }
        aspects[.defaultValue] = facets.defaultValue
        aspects[.unicode] = facets.isUnicode == false ? "false" : nil
        aspects[.concurrencyMode] = facets.isConcurrencyToken ? "Fixed" : nil
        aspects[.srid] = facets.srid
        let hasDefaults = !version.isLegacy
        let isTemporal = type == .dateTimeOffset || type == .duration || type == .timeOfDay
        if let precision = facets.precision, !(hasDefaults && isTemporal && precision == 0) {
            aspects[.precision] = "\(precision)"
        }
        switch facets.scale {
        case .fixed(0) where hasDefaults: break
        case .fixed(let digits): aspects[.scale] = "\(digits)"
        case .variable: aspects[.scale] = "variable"
        case .floating: aspects[.scale] = "floating"
        case nil: break
        }
    }

    /// Sets a Boolean aspect.
    mutating func state(_ aspect: ModelAspect, _ holds: Bool) { aspects[aspect] = holds ? "true" : "false" }
}

extension TypeReference {
    /// The type name as written in a document.
    var text: String { isCollection ? "Collection(\(name))" : name }
}

extension [ReferentialConstraint] {
    /// The constraints as text, independent of their order; `nil` if there are none.
    var text: String? {
        isEmpty ? nil : map { "\($0.dependent) = \($0.principal)" }.sorted().joined(separator: ", ")
    }
}
