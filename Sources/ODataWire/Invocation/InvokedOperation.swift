public import EDM

/// A function or action as it is called: one overload, under the name that its URL has.
///
/// `EntityDataModel.invokedOperation(_:on:parameters:)` finds it.
public struct InvokedOperation: Sendable, Hashable {
    /// In V2 and V3 always a function: what changes something there is told by ``method`` alone.
    public let kind: ServiceOperation.Kind
    /// The name of the import, or the qualified name of a bound operation.
    public let name: String
    /// The method of its requests: GET of a function, POST of an action, and in V2 and V3 what `m:HttpMethod` says.
    public let method: String
    /// What it is called on; nil for an import.
    public let bindingType: TypeReference?
    /// Without the one that it is bound to.
    public let parameters: [ServiceOperation.Parameter]
    public let returnType: ServiceOperation.ReturnType?
    /// The set that the result's entities are in, where the import says so.
    public let entitySet: String?
    /// The names that lead from what it is bound to, to the set of the result's entities; nil where nothing is said.
    public let entitySetPath: [String]?

    /// Whether the metadata allow that something is changed by it.
    public var mayChangeSomething: Bool { method != "GET" }

    /// One that a container imports.
    init(_ found: OperationImport, _ operation: ServiceOperation?) {
        kind = found.kind
        name = found.name
        bindingType = nil
        parameters = operation?.parameters ?? found.parameters
        returnType = operation.map(\.returnType) ?? found.returnType
        entitySet = found.entitySet
        entitySetPath = nil
        method =
            operation == nil ? found.httpMethod?.uppercased() ?? "GET" : found.kind == .action ? "POST" : "GET"
    }

    /// A bound one.
    init(_ operation: ServiceOperation) {
        kind = operation.kind
        name = operation.name
        bindingType = operation.parameters.first?.type
        parameters = Array(operation.parameters.dropFirst())
        returnType = operation.returnType
        entitySet = nil
        entitySetPath = operation.entitySetPath.map { $0.split(separator: "/").dropFirst().map(String.init) }
        method = operation.kind == .action ? "POST" : "GET"
    }
}

extension ServiceOperation.Parameter {
    /// Whether no value can be meant where none is given: one that may be null, but no collection.
    var isNullByDefault: Bool { isNullable && !type.isCollection }
}

/// Why a function or action can't be called as it was meant to be. Nothing was sent.
public struct InvocationError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// No import, or nothing bound to that type, has the name.
        case unknownOperation
        /// No overload takes parameters with these names.
        case parameters
        /// A value is none of its parameter's.
        case value
        /// The protocol's version has no form for it.
        case unsupported
    }

    public let code: Code
    /// One sentence.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
