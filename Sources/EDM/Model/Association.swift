/// A relationship between two entity types as declared in V2 and V3, separate from its navigation properties.
public struct Association: Sendable, Hashable {
    /// The qualified name.
    public let name: String
    /// The first end in the order of the document.
    public let first: End
    /// The second end in the order of the document.
    public let second: End
    /// The referential constraint, or `nil` if the document declares no usable one.
    public let constraint: Constraint?
    /// The annotations of the association: its attributes of other vocabularies.
    public let annotations: [Annotation]

    /// Creates an association. The roles of the ends must differ.
    public init(
        name: String, first: End, second: End, constraint: Constraint? = nil, annotations: [Annotation] = []
    ) {
        self.name = name
        self.first = first
        self.second = second
        self.constraint = constraint
        self.annotations = annotations
    }

    /// One end of an association.
    public struct End: Sendable, Hashable {
        /// The name of the end within the association.
        public let role: String
        /// The qualified name of the entity type at this end.
        public let type: String
        /// The number of entities at this end for one entity at the other end.
        public let multiplicity: Multiplicity
        /// The effect of deleting the entity at this end on the entities at the other end.
        public let onDelete: String?

        /// Creates an end.
        public init(role: String, type: String, multiplicity: Multiplicity, onDelete: String? = nil) {
            self.role = role
            self.type = type
            self.multiplicity = multiplicity
            self.onDelete = onDelete
        }
    }

    /// The dependent and principal end, and the properties that connect them.
    public struct Constraint: Sendable, Hashable {
        /// The role of the principal end, whose values the dependent end repeats.
        public let principalRole: String
        /// The role of the dependent end, whose properties contain the values of the principal.
        public let dependentRole: String
        /// The pairs of properties. If a service swaps principal and dependent, the reader corrects it.
        public let pairs: [ReferentialConstraint]

        /// Creates a constraint.
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
    /// The name within the container.
    public let name: String
    /// The qualified name of the association.
    public let association: String
    /// The ends with their entity sets, at most two.
    public let ends: [End]
    /// The annotations of the association set.
    public let annotations: [Annotation]

    /// Creates an association set.
    public init(name: String, association: String, ends: [End], annotations: [Annotation] = []) {
        self.name = name
        self.association = association
        self.ends = ends
        self.annotations = annotations
    }

    /// One end of an association set.
    public struct End: Sendable, Hashable {
        /// The role of the end in the association.
        public let role: String
        /// The name of the entity set, as declared in the container.
        public let entitySet: String

        /// Creates an end.
        public init(role: String, entitySet: String) {
            self.role = role
            self.entitySet = entitySet
        }
    }
}
