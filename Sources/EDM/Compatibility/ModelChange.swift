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
    /// The kind of the element that differs.
    public let element: ModelElementKind
    /// The difference: addition, removal, or the change of an aspect.
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
    /// An entity type.
    case entityType = "EntityType"
    /// A complex type.
    case complexType = "ComplexType"
    /// A structural property.
    case property = "Property"
    /// A navigation property.
    case navigationProperty = "NavigationProperty"
    /// An enumeration type.
    case enumerationType = "EnumType"
    /// A member of an enumeration type.
    case enumerationMember = "Member"
    /// A type definition.
    case typeDefinition = "TypeDefinition"
    /// V2 and V3 only.
    case association = "Association"
    /// V2 and V3 only.
    case associationEnd = "End"
    /// One overload.
    case action = "Action"
    /// One overload.
    case function = "Function"
    /// A parameter of an operation or, in V2 and V3, of a function import.
    case parameter = "Parameter"
    /// The result of an operation or, in V2 and V3, of a function import.
    case returnType = "ReturnType"
    /// An entity container.
    case container = "EntityContainer"
    /// An entity set.
    case entitySet = "EntitySet"
    /// A singleton.
    case singleton = "Singleton"
    /// V4 only. In V2 and V3, bindings follow from the association sets.
    case binding = "NavigationPropertyBinding"
    /// An import of an action.
    case actionImport = "ActionImport"
    /// An import of a function. In V2 and V3 it declares the function, and is one overload.
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
    /// Whether a property, parameter or result can be null.
    case nullability
    /// The facet `MaxLength`.
    case maxLength = "maximal length"
    /// The facet `Precision`.
    case precision
    /// The facet `Scale`.
    case scale
    /// The facet `Unicode`.
    case unicode
    /// The facet `SRID`.
    case srid = "SRID"
    /// The facet `DefaultValue`.
    case defaultValue = "default value"
    /// Whether a property is part of the ETag (V2 and V3, `ConcurrencyMode`).
    case concurrencyMode = "concurrency mode"
    /// The base type of an entity or complex type.
    case baseType = "base type"
    /// Whether a type is abstract.
    case abstract
    /// Whether instances of a type can have undeclared properties.
    case open = "open type"
    /// Whether the entities of a type are media entities.
    case hasStream = "media stream"
    /// The key properties in the order of key predicates.
    case key
    /// The underlying type of an enumeration.
    case underlyingType = "underlying type"
    /// Whether a value of an enumeration type can combine several members.
    case flags = "flags enumeration"
    /// The value of an enumeration member.
    case value
    /// The number of entities at the target of a navigation property, or at an association end.
    case multiplicity
    /// The path of the navigation property in the reverse direction.
    case partner
    /// The pairs of dependent and principal properties.
    case referentialConstraint = "referential constraint"
    /// Whether a navigation property contains its targets.
    case containsTarget = "containment"
    /// The effect of a deletion on the related entities.
    case onDelete = "action on delete"
    /// The association and direction of a navigation property in V2 and V3.
    case relationship
    /// Whether an operation is bound to its first parameter.
    case bound
    /// Whether path segments and query options can follow a call.
    case composable
    /// The entity set of a result, as a path from the binding parameter.
    case entitySetPath = "entity set path"
    /// The order of the parameters of an operation or import.
    case parameterOrder = "order of parameters"
    /// The container that a container extends.
    case extends = "extended container"
    /// The target set of a binding.
    case target
    /// The imported operation.
    case operation
    /// The entity set of an import's result.
    case resultSet = "entity set"
    /// The HTTP method of a function import (V2 and V3).
    case httpMethod = "HTTP method"
    /// The association of an association set.
    case association
    /// The entity sets of an association set's ends.
    case ends
}
