/// One overload of an action or function (CSDL 4.01, chapter 12).
public struct ServiceOperation: Sendable, Hashable {
    /// The kind of operation: action or function.
    public let kind: OperationKind
    /// The qualified name, which all overloads share.
    public let name: String
    /// Whether the first parameter is the binding parameter: the entity or collection on which the operation is
    /// called.
    public let isBound: Bool
    /// Whether path segments and query options can follow the call.
    public let isComposable: Bool
    /// The parameters in the order of the declaration, including the binding parameter.
    public let parameters: [Parameter]
    /// The return type, or `nil` for an action that returns nothing.
    public let returnType: ReturnType?
    /// The entity set of the result, as a path from the binding parameter.
    public let entitySetPath: String?
    /// The annotations of this overload, and those that apply to all overloads of the name.
    public let annotations: [Annotation]

    /// Creates an overload of an operation.
    public init(
        kind: OperationKind, name: String, isBound: Bool = false, isComposable: Bool = false,
        parameters: [Parameter] = [],
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

    /// A parameter of an operation (CSDL 4.01, section 12.9).
    public struct Parameter: Sendable, Hashable {
        /// The name in calls of the operation.
        public let name: String
        /// The type of the argument.
        public let type: TypeReference
        /// A Boolean value that indicates whether the argument can be null. True if CSDL XML does not declare it.
        public let isNullable: Bool
        /// The facets of the argument.
        public let facets: Facets
        /// The annotations of the parameter.
        public let annotations: [Annotation]

        /// Creates a parameter.
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

        /// Whether a call can omit the parameter, independent of its nullability: the annotation
        /// `Core.OptionalParameter`.
        public var isOptional: Bool { annotations.contains { $0.term == "Org.OData.Core.V1.OptionalParameter" } }
    }

    /// The result of an operation (CSDL 4.01, section 12.8).
    public struct ReturnType: Sendable, Hashable {
        /// The type of the result.
        public let type: TypeReference
        /// A Boolean value that indicates whether the result can be null. True if CSDL XML does not declare it.
        public let isNullable: Bool
        /// The facets of the result.
        public let facets: Facets

        /// Creates a return type.
        public init(type: TypeReference, isNullable: Bool = true, facets: Facets = Facets()) {
            self.type = type
            self.isNullable = isNullable
            self.facets = facets
        }
    }
}

/// The kinds of operations.
public enum OperationKind: Sendable, Hashable { case action, function }

/// An action or function that the container exposes by name.
///
/// V4 names the operation. V2 and V3 have function imports only, which declare parameters and result themselves.
public struct OperationImport: Sendable, Hashable {
    /// The kind of operation. V2 and V3 have functions only.
    public let kind: OperationKind
    /// The name in the container.
    public let name: String
    /// The qualified name of the operation; `nil` in V2 and V3.
    public let operation: String?
    /// The entity set of the result, if declared.
    public let entitySet: String?
    /// V2 and V3 only.
    public let parameters: [ServiceOperation.Parameter]
    /// V2 and V3 only.
    public let returnType: ServiceOperation.ReturnType?
    /// The HTTP method in V2 and V3: `m:HttpMethod`.
    public let httpMethod: String?
    /// V3: whether it is called on an entity or collection, which is the first parameter.
    public let isBindable: Bool
    /// The annotations of the import.
    public let annotations: [Annotation]

    /// Creates an import.
    public init(
        kind: OperationKind, name: String, operation: String? = nil, entitySet: String? = nil,
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
