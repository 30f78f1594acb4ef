/// An element of a model as it is compared: what it is called, what is said of it, and what it holds.
///
/// Annotations, the order of elements and whatever follows from something else in the model are left out.
struct ModelElement {
    let kind: ModelElementKind
    /// The last segment of the path.
    let name: String
    /// What overloads have in common: the name without their parameters.
    var family: String?
    var aspects: [ModelAspect: String] = [:]
    var children: [ModelElement] = []
    /// The paths of elements with which this one comes and goes: a binding with its navigation property and its target.
    var companions: [String] = []

    init(_ kind: ModelElementKind, _ name: String) {
        self.kind = kind
        self.name = name
    }

    /// Names that must be unique among each other: elements of different spaces are never the same element.
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

    /// Says what is said about the type of a property, parameter or result.
    mutating func describe(_ type: TypeReference, isNullable: Bool?, _ facets: Facets, in version: ODataVersion) {
        aspects[.type] = type.text
        if let isNullable { aspects[.nullability] = "\(isNullable)" }
        describe(facets, of: type.primitive, in: version)
    }

    /// A facet that says what would hold anyway says nothing (CSDL 4.01, section 7.2).
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

    /// Says it only where it holds, so that a difference reads as "is now" or "was".
    mutating func state(_ aspect: ModelAspect, _ holds: Bool) { aspects[aspect] = holds ? "true" : "false" }
}

extension TypeReference {
    /// As a document writes it.
    var text: String { isCollection ? "Collection(\(name))" : name }
}

extension [ReferentialConstraint] {
    /// Their order says nothing. nil for none.
    var text: String? {
        isEmpty ? nil : map { "\($0.dependent) = \($0.principal)" }.sorted().joined(separator: ", ")
    }
}
