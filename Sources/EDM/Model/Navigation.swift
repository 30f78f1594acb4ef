/// How many entities one end of a relationship may hold (CSDL V2, attribute `Multiplicity`).
public enum Multiplicity: String, Sendable, Hashable {
    case zeroOrOne = "0..1"
    case one = "1"
    case many = "*"
}

/// What makes a property a navigation property: its end of a relationship.
///
/// V2 and V3 state the relationship as an `Association` of two ends; V4 states it on the navigation property itself and
/// names the partner. Both are reduced to the same facts here, so that nothing above this layer asks for the version.
public struct Navigation: Sendable, Hashable {
    /// The qualified name of the target entity type.
    public let targetType: String
    /// How many targets one source has. Mandatory ends are read from here, never from a property's nullability.
    public let multiplicity: Multiplicity
    /// How many sources one target has. `*` where the relationship can be walked in this direction only and the
    /// document does not say, or, in V2 and V3, where the source is the dependent end of it.
    public let sourceMultiplicity: Multiplicity
    /// The navigation property of the target type that walks the same relationship backwards.
    public let partner: String?
    /// Dependent and principal properties, where this end's *source* is the dependent one.
    public let constraints: [ReferentialConstraint]
    /// Dependent and principal properties, where this end's *target* is the dependent one.
    public let inverseConstraints: [ReferentialConstraint]
    public let containsTarget: Bool
    /// What deleting the source does to its targets, as the document says it (`Cascade`, `None`, `SetNull`, `SetDefault`).
    public let onDelete: String?
    /// The relationship both partners belong to.
    public let relationship: Relationship
    /// V2 and V3: what the declaration says, where `relationship` may be another association that means the same.
    public let walk: AssociationWalk?

    public init(
        targetType: String, multiplicity: Multiplicity, sourceMultiplicity: Multiplicity, partner: String?,
        constraints: [ReferentialConstraint] = [], inverseConstraints: [ReferentialConstraint] = [],
        containsTarget: Bool = false, onDelete: String? = nil, relationship: Relationship,
        walk: AssociationWalk? = nil
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

/// From which end to which a navigation property walks an association (V2 and V3).
public struct AssociationWalk: Sendable, Hashable {
    /// The association's qualified name.
    public let association: String
    public let fromRole: String
    public let toRole: String

    public init(association: String, fromRole: String, toRole: String) {
        self.association = association
        self.fromRole = fromRole
        self.toRole = toRole
    }
}

/// A relationship as seen from one navigation property: its name, which both partners share, and the direction.
///
/// A link between two entities is kept once, under the relationship's name, from the forward end's source to its target.
public struct Relationship: Sendable, Hashable {
    /// V2 and V3: the association's qualified name. V4: `Type/Property` of the forward navigation property.
    public let name: String
    /// Whether this navigation property walks from the first end to the second.
    public let isForward: Bool

    public init(name: String, isForward: Bool) {
        self.name = name
        self.isForward = isForward
    }

    /// The same relationship walked from the other end.
    public var reversed: Relationship { Relationship(name: name, isForward: !isForward) }
}

/// One pair of properties of a referential constraint: the dependent one holds the principal one's value.
public struct ReferentialConstraint: Sendable, Hashable {
    public let dependent: String
    public let principal: String

    public init(dependent: String, principal: String) {
        self.dependent = dependent
        self.principal = principal
    }
}

/// The six meaningful combinations of multiplicities, each written with its looser end last.
public enum RelationshipClass: String, Sendable, Hashable, CaseIterable {
    case zeroOrOneToZeroOrOne = "0..1 – 0..1"
    case oneToZeroOrOne = "1 – 0..1"
    case oneToOne = "1 – 1"
    case oneToMany = "1 – *"
    case zeroOrOneToMany = "0..1 – *"
    case manyToMany = "* – *"

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
    public var relationshipClass: RelationshipClass { RelationshipClass(multiplicity, sourceMultiplicity) }
}
