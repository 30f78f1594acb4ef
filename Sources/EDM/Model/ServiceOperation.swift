/// One overload of an action or function (CSDL 4.01, chapter 12).
public struct ServiceOperation: Sendable, Hashable {
    public enum Kind: Sendable, Hashable { case action, function }

    public let kind: Kind
    /// The qualified name, which all overloads share.
    public let name: String
    /// Whether the first parameter is the entity or collection that the operation is called on.
    public let isBound: Bool
    /// Whether path segments and query options may follow the call.
    public let isComposable: Bool
    public let parameters: [Parameter]
    /// nil for an action that returns nothing.
    public let returnType: ReturnType?
    /// Where the result's entities are, as a path from the binding parameter.
    public let entitySetPath: String?
    public let annotations: [Annotation]

    public init(
        kind: Kind, name: String, isBound: Bool = false, isComposable: Bool = false, parameters: [Parameter] = [],
        returnType: ReturnType? = nil, entitySetPath: String? = nil, annotations: [Annotation] = []
    ) {
        self.kind = kind
        self.name = name
        self.isBound = isBound
        self.isComposable = isComposable
        self.parameters = parameters
        self.returnType = returnType
        self.entitySetPath = entitySetPath
        self.annotations = annotations
    }

    public struct Parameter: Sendable, Hashable {
        public let name: String
        public let type: TypeReference
        public let isNullable: Bool
        public let facets: Facets
        public let annotations: [Annotation]

        public init(
            name: String, type: TypeReference, isNullable: Bool = true, facets: Facets = Facets(),
            annotations: [Annotation] = []
        ) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.facets = facets
            self.annotations = annotations
        }

        /// Whether a call may leave it out, whatever its type allows: the annotation `Core.OptionalParameter`.
        public var isOptional: Bool { annotations.contains { $0.term == "Org.OData.Core.V1.OptionalParameter" } }
    }

    public struct ReturnType: Sendable, Hashable {
        public let type: TypeReference
        public let isNullable: Bool
        public let facets: Facets

        public init(type: TypeReference, isNullable: Bool = true, facets: Facets = Facets()) {
            self.type = type
            self.isNullable = isNullable
            self.facets = facets
        }
    }
}

/// An action or function that the container offers by name.
///
/// V4 names the operation; V2 and V3 know function imports only and declare parameters and result right here.
public struct OperationImport: Sendable, Hashable {
    public let kind: ServiceOperation.Kind
    public let name: String
    /// The qualified name of the operation. nil in V2 and V3.
    public let operation: String?
    /// The set that the result's entities are in, where the document says so.
    public let entitySet: String?
    /// V2 and V3 only.
    public let parameters: [ServiceOperation.Parameter]
    /// V2 and V3 only.
    public let returnType: ServiceOperation.ReturnType?
    /// V2 and V3: `m:HttpMethod`.
    public let httpMethod: String?
    /// V3: whether it is called on an entity or collection, which the first parameter stands for.
    public let isBindable: Bool
    public let annotations: [Annotation]

    public init(
        kind: ServiceOperation.Kind, name: String, operation: String? = nil, entitySet: String? = nil,
        parameters: [ServiceOperation.Parameter] = [], returnType: ServiceOperation.ReturnType? = nil,
        httpMethod: String? = nil, isBindable: Bool = false, annotations: [Annotation] = []
    ) {
        self.kind = kind
        self.name = name
        self.operation = operation
        self.entitySet = entitySet
        self.parameters = parameters
        self.returnType = returnType
        self.httpMethod = httpMethod
        self.isBindable = isBindable
        self.annotations = annotations
    }
}
