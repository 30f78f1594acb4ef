/// One thing that one metadata document says differently from another.
public struct ModelChange: Sendable, Hashable {
    /// What happened to the element.
    public enum Kind: Sendable, Hashable {
        /// With everything in it, which is not listed again.
        case added
        /// With everything in it, which is not listed again.
        case removed
        /// What was said of the aspect before and is said now; nil where nothing was said.
        case changed(ModelAspect, from: String?, to: String?)
    }

    /// The element as annotations would name it as their target: `NS.Customer/Name`, `NS.Color/Red`,
    /// `NS.Ship(NS.Order)/Speed`, `NS.Container/Orders`. Of a changed overload the one before the change.
    public let path: String
    public let element: ModelElementKind
    public let kind: Kind
    /// What the rules of compatibility say about the change, before anything is approved.
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
    /// By path, so that what happened to one type stands together.
    public static func < (a: ModelChange, b: ModelChange) -> Bool {
        if a.path != b.path { return a.path < b.path }
        if a.element != b.element { return a.element.rawValue < b.element.rawValue }
        return a.kind.place < b.kind.place
    }
}

extension ModelChange.Kind {
    fileprivate var place: String {
        switch self {
        case .removed: ""
        case .changed(let aspect, _, _): aspect.rawValue
        // Behind each aspect, which begins with a letter.
        case .added: "~"
        }
    }
}

/// The kinds of model elements that are compared, under the names that CSDL has for them.
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
    /// V4 only: in V2 and V3 it follows from the association sets.
    case binding = "NavigationPropertyBinding"
    case actionImport = "ActionImport"
    case functionImport = "FunctionImport"
    /// V2 and V3 only.
    case associationSet = "AssociationSet"
}

/// What is compared of a model element beside its being there.
public enum ModelAspect: String, Sendable, Hashable, CaseIterable {
    /// The protocol version of the document.
    case version
    /// The kind of element that the name stands for: a complex type that was an entity type.
    case elementKind = "kind of element"
    /// Of a property, parameter, result, set, association's end or type definition.
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
    /// The key's properties in their order, which is that of key predicates.
    case key
    /// The underlying type of an enumeration.
    case underlyingType = "underlying type"
    case flags = "flags enumeration"
    /// Of an enumeration's member.
    case value
    case multiplicity
    /// The path of the navigation property that walks the relationship backwards.
    case partner
    case referentialConstraint = "referential constraint"
    case containsTarget = "containment"
    case onDelete = "action on delete"
    /// V2 and V3: which association a navigation property walks, and how.
    case relationship
    case bound
    case composable
    case entitySetPath = "entity set path"
    case parameterOrder = "order of parameters"
    /// The container that a container extends.
    case extends = "extended container"
    /// The set that a binding leads to.
    case target
    /// What an import imports.
    case operation
    /// The set that an import's result is in.
    case resultSet = "entity set"
    case httpMethod = "HTTP method"
    /// Of an association set: the association.
    case association
    /// Of an association set: the sets of the ends.
    case ends
}
