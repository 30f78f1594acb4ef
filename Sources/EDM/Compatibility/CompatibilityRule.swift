/// The rules that determine whether a metadata change is compatible with an app built for the old metadata.
public enum CompatibilityRule: String, Sendable, Hashable, CaseIterable {
    /// A structural or navigation property was added to a type. Compatible.
    case propertyAdded
    /// An entity type, complex type, enumeration type or type definition was added. Compatible.
    case typeAdded
    /// An entity set or singleton was added. Compatible.
    case entitySetAdded
    /// An action, a function, or an import of one was added. Compatible.
    case operationAdded
    /// A nullable parameter was added after the existing parameters of an action. Compatible.
    case nullableParameterAppended

    /// A member was added to an enumeration type.
    case memberAdded
    /// The base type of a type changed.
    case baseTypeChanged
    /// The value of an enumeration member changed.
    case memberValueChanged
    /// The type of a property changed, or whether it can be null.
    ///
    /// For a navigation property, the type or the multiplicity; in V2 and V3, that of an association end.
    case propertyTypeChanged
    /// The type of a parameter or result changed, or whether it can be null; or a result was added or removed.
    case parameterTypeChanged
    /// An element was removed that is not a property, an enumeration member or a result.
    case elementRemoved
    /// A member was removed from an enumeration type.
    case memberRemoved
    /// A structural or navigation property was removed from a type.
    case propertyRemoved
    /// Any change that no other rule covers.
    case anythingElse

    /// Whether such a change needs no approval.
    public var isCompatible: Bool {
        switch self {
        case .propertyAdded, .typeAdded, .entitySetAdded, .operationAdded, .nullableParameterAppended: true
        case .memberAdded, .baseTypeChanged, .memberValueChanged, .propertyTypeChanged, .parameterTypeChanged,
            .elementRemoved, .memberRemoved, .propertyRemoved, .anythingElse:
            false
        }
    }
}

extension CompatibilityRule: CustomStringConvertible {
    /// The rule as a sentence.
    public var description: String {
        switch self {
        case .propertyAdded: "A structural or navigation property may be added to an entity or complex type."
        case .typeAdded: "A new type may be added."
        case .entitySetAdded: "A new entity set or singleton may be added."
        case .operationAdded: "A new action or function may be added."
        case .nullableParameterAppended: "A nullable parameter may be added after the parameters of an action."
        case .memberAdded: "No member may be added to an enumeration type, unless its enumerations are open."
        case .baseTypeChanged: "No type may change its base type."
        case .memberValueChanged: "No member of an enumeration type may change its value."
        case .propertyTypeChanged: "No property may change its type or whether it can be null."
        case .parameterTypeChanged:
            "No parameter or result of an action or function may change its type or whether it can be null."
        case .elementRemoved: "No model element may be removed."
        case .memberRemoved: "No member may be removed from an enumeration type."
        case .propertyRemoved: "No property may be removed from an entity or complex type."
        case .anythingElse: "Only aspects that are known to be harmless may change."
        }
    }
}

extension CompatibilityRule {
    /// Creates the rule for a change.
    init(_ finding: ElementComparison.Finding) {
        switch finding.kind {
        case .added: self = Self.addition(finding)
        case .removed: self = Self.removal(finding.element)
        case .changed(let aspect, _, _): self = Self.change(of: aspect, finding.element)
        }
    }

    private static func addition(_ finding: ElementComparison.Finding) -> CompatibilityRule {
        switch finding.element {
        case .property, .navigationProperty: .propertyAdded
        case .entityType, .complexType, .enumerationType, .typeDefinition: .typeAdded
        case .entitySet, .singleton: .entitySetAdded
        case .action, .function, .actionImport, .functionImport: .operationAdded
        case .parameter: finding.isAppendedToAction && finding.isNullable ? .nullableParameterAppended : .anythingElse
        case .returnType: .parameterTypeChanged
        case .enumerationMember: .memberAdded
        case .document, .association, .associationEnd, .associationSet, .container, .binding: .anythingElse
        }
    }

    private static func removal(_ element: ModelElementKind) -> CompatibilityRule {
        switch element {
        case .property, .navigationProperty: .propertyRemoved
        case .enumerationMember: .memberRemoved
        case .returnType: .parameterTypeChanged
        case .document, .entityType, .complexType, .enumerationType, .typeDefinition, .association, .associationEnd,
            .action, .function, .parameter, .container, .entitySet, .singleton, .binding, .actionImport,
            .functionImport, .associationSet:
            .elementRemoved
        }
    }

    private static func change(of aspect: ModelAspect, _ element: ModelElementKind) -> CompatibilityRule {
        switch (aspect, element) {
        case (.baseType, _): .baseTypeChanged
        case (.value, .enumerationMember): .memberValueChanged
        // In V2 and V3, the ends determine the types of the navigation properties between them.
        case (.type, .property), (.nullability, .property), (.type, .navigationProperty),
            (.multiplicity, .navigationProperty), (.type, .associationEnd), (.multiplicity, .associationEnd):
            .propertyTypeChanged
        case (.type, .parameter), (.nullability, .parameter), (.type, .returnType), (.nullability, .returnType):
            .parameterTypeChanged
        default: .anythingElse
        }
    }
}
