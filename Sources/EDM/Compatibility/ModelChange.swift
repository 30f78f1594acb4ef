/// One difference between two metadata documents.
public struct ModelChange: Sendable, Hashable {
    /// The kind of change of an element.
    public enum Difference: Sendable, Hashable {
        /// The element and all its contents, which are not listed separately.
        case added
        /// The element and all its contents, which are not listed separately.
        case removed
        /// The old and new value of the aspect; `nil` if there is none.
        case changed(ModelAspect, from: String?, to: String?)
    }

    /// The path by which annotations name the element: `NS.Customer/Name`, `NS.Color/Red`, `NS.Ship(NS.Order)/Speed`,
    /// `NS.Container/Orders`. For a changed overload, the old one.
    public let path: String
    public let element: ModelElementKind
    public let kind: Difference
    /// The compatibility rule for the change, before approvals.
    public let rule: CompatibilityRule
}

extension ModelChange: CustomStringConvertible {
    /// One line for a person: `Property NS.Customer/Name: nullability changed from true to false`.
    public var description: String {
        switch kind {
        case .added: "\(element.rawValue) \(path): added"
        case .removed: "\(element.rawValue) \(path): removed"
        case .changed(let aspect, let old?, let new?):
            "\(element.rawValue) \(path): \(aspect.rawValue) changed from \(old) to \(new)"
        case .changed(let aspect, nil, let new): "\(element.rawValue) \(path): \(aspect.rawValue) is now \(new ?? "")"
        case .changed(let aspect, let old, nil): "\(element.rawValue) \(path): \(aspect.rawValue) was \(old ?? "")"
        }
    }
}

extension ModelChange: Comparable {
    /// Orders changes by path, so that all changes of one type are adjacent.
    public static func < (a: ModelChange, b: ModelChange) -> Bool {
        if a.path != b.path { return a.path < b.path }
        if a.element != b.element { return a.element.rawValue < b.element.rawValue }
        return a.kind.place < b.kind.place
    }
}

extension ModelChange.Difference {
    fileprivate var place: String {
        switch self {
        case .removed: ""
        case .changed(let aspect, _, _): aspect.rawValue
        // Sorts after each aspect, which begins with a letter.
        case .added: "~"
        }
    }
}

/// The kinds of compared model elements, with their CSDL names.
public enum ModelElementKind: String, Sendable, Hashable, CaseIterable {
    /// The document itself.
    case document = "Edmx"
    case entityType = "EntityType"
    case complexType = "ComplexType"
    case property = "Property"
    case navigationProperty = "NavigationProperty"
    case enumerationType = "EnumType"
    case enumerationMember = "Member"
    case typeDefinition = "TypeDefinition"
    /// V2 and V3 only.
    case association = "Association"
    /// V2 and V3 only.
    case associationEnd = "End"
    /// One overload.
    case action = "Action"
    /// One overload.
    case function = "Function"
    case parameter = "Parameter"
    case returnType = "ReturnType"
    case container = "EntityContainer"
    case entitySet = "EntitySet"
    case singleton = "Singleton"
    /// V4 only. In V2 and V3, bindings follow from the association sets.
    case binding = "NavigationPropertyBinding"
    case actionImport = "ActionImport"
    case functionImport = "FunctionImport"
    /// V2 and V3 only.
    case associationSet = "AssociationSet"
}

/// The compared aspects of a model element, apart from its existence.
public enum ModelAspect: String, Sendable, Hashable, CaseIterable {
    /// The protocol version of the document.
    case version
    /// The kind of element with that name, for example a complex type that was an entity type.
    case elementKind = "kind of element"
    /// The type of a property, parameter, result, set, association end or type definition.
    case type
    case nullability
    case maxLength = "maximal length"
    case precision
    case scale
    case unicode
    case srid = "SRID"
    case defaultValue = "default value"
    case concurrencyMode = "concurrency mode"
    case baseType = "base type"
    case abstract
    case open = "open type"
    case hasStream = "media stream"
    /// The key properties in the order of key predicates.
    case key
    /// The underlying type of an enumeration.
    case underlyingType = "underlying type"
    case flags = "flags enumeration"
    /// The value of an enumeration member.
    case value
    case multiplicity
    /// The path of the navigation property in the reverse direction.
    case partner
    case referentialConstraint = "referential constraint"
    case containsTarget = "containment"
    case onDelete = "action on delete"
    /// The association and direction of a navigation property in V2 and V3.
    case relationship
    case bound
    case composable
    case entitySetPath = "entity set path"
    case parameterOrder = "order of parameters"
    /// The container that a container extends.
    case extends = "extended container"
    /// The target set of a binding.
    case target
    /// The imported operation.
    case operation
    /// The entity set of an import's result.
    case resultSet = "entity set"
    case httpMethod = "HTTP method"
    /// The association of an association set.
    case association
    /// The entity sets of an association set's ends.
    case ends
}
