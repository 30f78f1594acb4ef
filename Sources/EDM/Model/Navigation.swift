/// The number of entities at one end of a relationship (CSDL V2, attribute `Multiplicity`).
public enum Multiplicity: String, Sendable, Hashable {
    /// At most one entity.
    case zeroOrOne = "0..1"
    /// Exactly one entity.
    case one = "1"
    /// Any number of entities.
    case many = "*"
}

/// The relationship of a navigation property, as seen from its end.
///
/// V2 and V3 declare the relationship as an `Association` with two ends; V4 declares it on the navigation property
/// and names the partner. Both are represented in the same way, so that the layers above do not depend on the
/// version.
public struct Navigation: Sendable, Hashable {
    private let declaration: Declaration

    /// The qualified name of the target entity type.
    public var targetType: String { declaration.targetType }
    /// The number of targets of one source. It determines whether an end is mandatory, never the nullability of a
    /// property.
    public var multiplicity: Multiplicity { declaration.multiplicity }
    /// The number of sources of one target. `*` if the relationship has only this direction and the document does not
    /// declare it, or, in V2 and V3, if the source is the dependent end.
    public var sourceMultiplicity: Multiplicity { declaration.sourceMultiplicity }
    /// The navigation property of the target type in the reverse direction of the relationship.
    public var partner: String? { declaration.partner }
    /// The dependent and principal properties, if the *source* of this end is the dependent.
    public var constraints: [ReferentialConstraint] { declaration.constraints }
    /// The dependent and principal properties, if the *target* of this end is the dependent.
    public var inverseConstraints: [ReferentialConstraint] { declaration.inverseConstraints }
    /// A Boolean value that indicates whether the source contains its targets (CSDL 4.01, section 8.4).
    public var containsTarget: Bool { declaration.containsTarget }
    /// The effect of deleting the source on its targets, as declared (`Cascade`, `None`, `SetNull`, `SetDefault`).
    public var onDelete: String? { declaration.onDelete }
    /// The relationship that both partners share.
    public var relationship: Relationship { declaration.relationship }
    /// The declared association and direction in V2 and V3. `relationship` can be another, equivalent association.
    public var walk: AssociationDirection? { declaration.walk }

    /// Creates the relationship of a navigation property.
    public init(
        targetType: String, multiplicity: Multiplicity, sourceMultiplicity: Multiplicity, partner: String?,
        constraints: [ReferentialConstraint] = [], inverseConstraints: [ReferentialConstraint] = [],
        containsTarget: Bool = false, onDelete: String? = nil, relationship: Relationship,
        walk: AssociationDirection? = nil
    ) {
        declaration = Declaration(
            targetType: targetType, multiplicity: multiplicity, sourceMultiplicity: sourceMultiplicity,
            partner: partner, constraints: constraints, inverseConstraints: inverseConstraints,
            containsTarget: containsTarget, onDelete: onDelete, relationship: relationship, walk: walk)
    }

    /// All copies share the declaration, because most look-ups by name copy the value and read one or two of its parts.
    private final class Declaration: Sendable {
        let targetType: String
        let multiplicity: Multiplicity
        let sourceMultiplicity: Multiplicity
        let partner: String?
        let constraints: [ReferentialConstraint]
        let inverseConstraints: [ReferentialConstraint]
        let containsTarget: Bool
        let onDelete: String?
        let relationship: Relationship
        let walk: AssociationDirection?

        init(
            targetType: String, multiplicity: Multiplicity, sourceMultiplicity: Multiplicity, partner: String?,
            constraints: [ReferentialConstraint], inverseConstraints: [ReferentialConstraint], containsTarget: Bool,
            onDelete: String?, relationship: Relationship, walk: AssociationDirection?
        ) {
            self.targetType = targetType
            self.multiplicity = multiplicity
            self.sourceMultiplicity = sourceMultiplicity
            self.partner = partner
            self.constraints = constraints
            self.inverseConstraints = inverseConstraints
            self.containsTarget = containsTarget
            self.onDelete = onDelete
            self.relationship = relationship
            self.walk = walk
        }
    }

    public static func == (a: Navigation, b: Navigation) -> Bool {
        if a.declaration === b.declaration { return true }
        return a.targetType == b.targetType && a.multiplicity == b.multiplicity
            && a.sourceMultiplicity == b.sourceMultiplicity && a.partner == b.partner
            && a.constraints == b.constraints && a.inverseConstraints == b.inverseConstraints
            && a.containsTarget == b.containsTarget && a.onDelete == b.onDelete && a.relationship == b.relationship
            && a.walk == b.walk
    }

    /// The other parts rarely differ if these are equal.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(relationship)
        hasher.combine(targetType)
        hasher.combine(partner)
    }
}

extension Navigation: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(self, children: Mirror(reflecting: declaration).children, displayStyle: .struct)
    }
}

/// The association and direction of a navigation property (V2 and V3).
public struct AssociationDirection: Sendable, Hashable {
    /// The association's qualified name.
    public let association: String
    /// The role of the source.
    public let fromRole: String
    /// The role of the target.
    public let toRole: String

    /// Creates a direction of an association.
    public init(association: String, fromRole: String, toRole: String) {
        self.association = association
        self.fromRole = fromRole
        self.toRole = toRole
    }
}

/// A relationship as seen from one navigation property: its name, which both partners share, and the direction.
///
/// A link between two entities is stored once, under the relationship's name, from the source of the forward end to
/// its target.
public struct Relationship: Sendable, Hashable {
    /// The association's qualified name in V2 and V3, `Type/Property` of the forward navigation property in V4.
    public let name: String
    /// Whether this navigation property leads from the first end to the second.
    public let isForward: Bool

    /// Creates a relationship in one direction.
    public init(name: String, isForward: Bool) {
        self.name = name
        self.isForward = isForward
    }

    /// The relationship as seen from the other end.
    public var reversed: Relationship { Relationship(name: name, isForward: !isForward) }
}

/// One pair of properties of a referential constraint: the dependent property contains the principal property's
/// value.
public struct ReferentialConstraint: Sendable, Hashable {
    /// The name or path of the dependent property.
    public let dependent: String
    /// The name or path of the principal property.
    public let principal: String

    /// Creates a pair of properties.
    public init(dependent: String, principal: String) {
        self.dependent = dependent
        self.principal = principal
    }
}

/// The six combinations of multiplicities, each with the less restrictive end last.
public enum RelationshipClass: String, Sendable, Hashable, CaseIterable {
    /// Both ends are optional, and neither is a collection.
    case zeroOrOneToZeroOrOne = "0..1 – 0..1"
    /// One end is mandatory, and the other one optional.
    case oneToZeroOrOne = "1 – 0..1"
    /// Both ends are mandatory, and neither is a collection.
    case oneToOne = "1 – 1"
    /// One end is mandatory, and the other one a collection.
    case oneToMany = "1 – *"
    /// One end is optional, and the other one a collection.
    case zeroOrOneToMany = "0..1 – *"
    /// Both ends are collections.
    case manyToMany = "* – *"

    /// Creates the combination of the multiplicities of two ends, in any order.
    public init(_ a: Multiplicity, _ b: Multiplicity) {
        switch (a, b) {
        case (.zeroOrOne, .zeroOrOne): self = .zeroOrOneToZeroOrOne
        case (.one, .one): self = .oneToOne
        case (.many, .many): self = .manyToMany
        case (.one, .zeroOrOne), (.zeroOrOne, .one): self = .oneToZeroOrOne
        case (.one, .many), (.many, .one): self = .oneToMany
        case (.zeroOrOne, .many), (.many, .zeroOrOne): self = .zeroOrOneToMany
        }
    }
}

extension Navigation {
    /// The combination of the multiplicities of both ends.
    public var relationshipClass: RelationshipClass { RelationshipClass(multiplicity, sourceMultiplicity) }
}
