/// One schema of a metadata document: its declarations by kind, in the order of the document.
///
/// ``EntityDataModel`` contains the resolved elements for the layers above; a schema keeps the grouping of the
/// document.
public struct Schema: Sendable {
    public let namespace: String
    public let alias: String?
    public let entityTypes: [EntityType]
    public let complexTypes: [ComplexType]
    public let enumerationTypes: [EnumerationType]
    public let typeDefinitions: [TypeDefinition]
    /// V2 and V3 only.
    public let associations: [Association]
    /// All overloads of all actions.
    public let actions: [ServiceOperation]
    /// All overloads of all functions.
    public let functions: [ServiceOperation]
    public let terms: [Term]
    public let containers: [EntityContainer]
    /// Annotations that name their target; the `annotations` of the target types, properties, sets and so on contain
    /// them too.
    public let annotationsBlocks: [AnnotationsBlock]
    /// Annotations of the schema itself.
    public let annotations: [Annotation]

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
    public let underlyingType: PrimitiveType
    public let facets: Facets
    public let annotations: [Annotation]

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
    public let type: TypeReference
    /// The qualified name of the term that this one specializes.
    public let baseTerm: String?
    public let isNullable: Bool
    public let facets: Facets
    /// The kinds of model elements to which the term applies; empty for all.
    public let appliesTo: [String]
    public let annotations: [Annotation]

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
    public let qualifier: String?
    public let annotations: [Annotation]

    public init(target: String, qualifier: String? = nil, annotations: [Annotation]) {
        self.target = target
        self.qualifier = qualifier
        self.annotations = annotations
    }
}
