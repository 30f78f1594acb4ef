/// One schema of a metadata document: its declarations by kind, in the order of the document.
///
/// ``EntityDataModel`` contains the resolved elements for the layers above; a schema keeps the grouping of the
/// document.
public struct Schema: Sendable {
    /// The namespace, which qualifies the names of the declarations.
    public let namespace: String
    /// The alias of the namespace in the document, or `nil` if there is none (CSDL 4.01, section 5.1).
    public let alias: String?
    /// The entity types.
    public let entityTypes: [EntityType]
    /// The complex types.
    public let complexTypes: [ComplexType]
    /// The enumeration types.
    public let enumerationTypes: [EnumerationType]
    /// The type definitions.
    public let typeDefinitions: [TypeDefinition]
    /// V2 and V3 only.
    public let associations: [Association]
    /// All overloads of all actions.
    public let actions: [ServiceOperation]
    /// All overloads of all functions.
    public let functions: [ServiceOperation]
    /// The declarations of terms.
    public let terms: [Term]
    /// The entity containers: those of the first document, and those that they extend.
    public let containers: [EntityContainer]
    /// Annotations that name their target; the `annotations` of the target types, properties, sets and so on contain
    /// them too.
    public let annotationsBlocks: [AnnotationsBlock]
    /// Annotations of the schema itself.
    public let annotations: [Annotation]

    /// Creates a schema.
    public init(
        namespace: String, alias: String?, entityTypes: [EntityType] = [], complexTypes: [ComplexType] = [],
        enumerationTypes: [EnumerationType] = [], typeDefinitions: [TypeDefinition] = [],
        associations: [Association] = [], actions: [ServiceOperation] = [], functions: [ServiceOperation] = [],
        terms: [Term] = [],
        containers: [EntityContainer] = [], annotationsBlocks: [AnnotationsBlock] = [], annotations: [Annotation] = []
    ) {
        self.namespace = namespace
        self.alias = alias
        self.entityTypes = entityTypes
        self.complexTypes = complexTypes
        self.enumerationTypes = enumerationTypes
        self.typeDefinitions = typeDefinitions
        self.associations = associations
        self.actions = actions
        self.functions = functions
        self.terms = terms
        self.containers = containers
        self.annotationsBlocks = annotationsBlocks
        self.annotations = annotations
    }
}

/// A named primitive type with facets (CSDL 4.01, chapter 11).
public struct TypeDefinition: Sendable, Hashable {
    /// The qualified name.
    public let name: String
    /// The primitive type of the values.
    public let underlyingType: PrimitiveType
    /// The facets, which also apply to properties of this type.
    public let facets: Facets
    /// The annotations of the type definition.
    public let annotations: [Annotation]

    /// Creates a type definition.
    public init(
        name: String, underlyingType: PrimitiveType, facets: Facets = Facets(), annotations: [Annotation] = []
    ) {
        self.name = name
        self.underlyingType = underlyingType
        self.facets = facets
        self.annotations = annotations
    }
}

/// The declaration of a term, which annotations apply (CSDL 4.01, section 14.1).
public struct Term: Sendable, Hashable {
    /// The qualified name.
    public let name: String
    /// The type of the value that an annotation with the term has.
    public let type: TypeReference
    /// The qualified name of the term that this one specializes.
    public let baseTerm: String?
    /// A Boolean value that indicates whether the value can be null. True if CSDL XML does not declare it.
    public let isNullable: Bool
    /// The facets of the value.
    public let facets: Facets
    /// The kinds of model elements to which the term applies; empty for all.
    public let appliesTo: [String]
    /// The annotations of the term.
    public let annotations: [Annotation]

    /// Creates the declaration of a term.
    public init(
        name: String, type: TypeReference, baseTerm: String? = nil, isNullable: Bool = true, facets: Facets = Facets(),
        appliesTo: [String] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.type = type
        self.baseTerm = baseTerm
        self.isNullable = isNullable
        self.facets = facets
        self.appliesTo = appliesTo
        self.annotations = annotations
    }
}

/// Annotations declared outside of their target element (CSDL 4.01, section 14.2).
public struct AnnotationsBlock: Sendable, Hashable {
    /// The path of the model element, its namespaces without alias: `Namespace.Type/Property`.
    public let target: String
    /// The qualifier of the annotations in the block that have none of their own.
    public let qualifier: String?
    /// The annotations of the block.
    public let annotations: [Annotation]

    /// Creates a block of annotations.
    public init(target: String, qualifier: String? = nil, annotations: [Annotation]) {
        self.target = target
        self.qualifier = qualifier
        self.annotations = annotations
    }
}
