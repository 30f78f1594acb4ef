/// A relationship between two entity types as declared in V2 and V3, separate from its navigation properties.
public struct Association: Sendable, Hashable {
    /// The qualified name.
    public let name: String
    public let first: End
    public let second: End
    public let constraint: Constraint?
    public let annotations: [Annotation]

    public init(
        name: String, first: End, second: End, constraint: Constraint? = nil, annotations: [Annotation] = []
    ) {
        self.name = name
        self.first = first
        self.second = second
        self.constraint = constraint
        self.annotations = annotations
    }

    public struct End: Sendable, Hashable {
        public let role: String
        /// The qualified name of the entity type at this end.
        public let type: String
        public let multiplicity: Multiplicity
        /// The effect of deleting the entity at this end on the entities at the other end.
        public let onDelete: String?

        public init(role: String, type: String, multiplicity: Multiplicity, onDelete: String? = nil) {
            self.role = role
            self.type = type
            self.multiplicity = multiplicity
            self.onDelete = onDelete
        }
    }

    /// The dependent and principal end, and the properties that connect them.
    public struct Constraint: Sendable, Hashable {
        public let principalRole: String
        public let dependentRole: String
        public let pairs: [ReferentialConstraint]

        public init(principalRole: String, dependentRole: String, pairs: [ReferentialConstraint]) {
            self.principalRole = principalRole
            self.dependentRole = dependentRole
            self.pairs = pairs
        }
    }

    /// Returns the end with the given role.
    public func end(_ role: String) -> End? { first.role == role ? first : second.role == role ? second : nil }
}

/// The entity sets of the two ends of an association (V2 and V3).
public struct AssociationSet: Sendable, Hashable {
    public let name: String
    /// The qualified name of the association.
    public let association: String
    public let ends: [End]
    public let annotations: [Annotation]

    public init(name: String, association: String, ends: [End], annotations: [Annotation] = []) {
        self.name = name
        self.association = association
        self.ends = ends
        self.annotations = annotations
    }

    public struct End: Sendable, Hashable {
        public let role: String
        public let entitySet: String

        public init(role: String, entitySet: String) {
            self.role = role
            self.entitySet = entitySet
        }
    }
}
