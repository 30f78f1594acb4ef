/// The resources that a service exposes at its root (CSDL 4.01, chapter 13).
public struct EntityContainer: Sendable {
    /// The qualified name.
    public let name: String
    /// The qualified name of the container that this one extends.
    public let extends: String?
    /// Whether the service's URLs name the sets without the container: V2 and V3 declare one such container, V4 has
    /// only one.
    public let isDefault: Bool
    /// The entity sets, in the order of the document.
    public let entitySets: [EntitySet]
    /// The singletons, in the order of the document. V2 and V3 have none.
    public let singletons: [EntitySet]
    /// The imports of actions. V2 and V3 have none.
    public let actionImports: [OperationImport]
    /// The imports of functions. In V2 and V3 they declare the functions and can be overloaded.
    public let functionImports: [OperationImport]
    /// V2 and V3 only.
    public let associationSets: [AssociationSet]
    /// The annotations of the container.
    public let annotations: [Annotation]

    /// Creates a container.
    public init(
        name: String, extends: String? = nil, isDefault: Bool = true, entitySets: [EntitySet] = [],
        singletons: [EntitySet] = [],
        actionImports: [OperationImport] = [], functionImports: [OperationImport] = [],
        associationSets: [AssociationSet] = [], annotations: [Annotation] = []
    ) {
        self.name = name
        self.extends = extends
        self.isDefault = isDefault
        self.entitySets = entitySets
        self.singletons = singletons
        self.actionImports = actionImports
        self.functionImports = functionImports
        self.associationSets = associationSets
        self.annotations = annotations
    }
}
