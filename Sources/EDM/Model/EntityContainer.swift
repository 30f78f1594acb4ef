/// What a service offers at its root (CSDL 4.01, chapter 13).
public struct EntityContainer: Sendable {
    /// The qualified name.
    public let name: String
    /// The qualified name of the container that this one extends.
    public let extends: String?
    public let entitySets: [EntitySet]
    public let singletons: [EntitySet]
    public let actionImports: [OperationImport]
    public let functionImports: [OperationImport]
    /// V2 and V3 only.
    public let associationSets: [AssociationSet]
    public let annotations: [Annotation]

    public init(
        name: String, extends: String? = nil, entitySets: [EntitySet] = [], singletons: [EntitySet] = [],
        actionImports: [OperationImport] = [], functionImports: [OperationImport] = [],
        associationSets: [AssociationSet] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.extends = extends
        self.entitySets = entitySets
        self.singletons = singletons
        self.actionImports = actionImports
        self.functionImports = functionImports
        self.associationSets = associationSets
        self.annotations = annotations
    }
}
