package import EDM

/// A function or action to be called: one overload, with the name that its URL contains.
///
/// `EntityDataModel.invokedOperation(_:on:parameters:)` returns it.
package struct InvokedOperation: Sendable, Hashable {
    /// The kind of the operation. In V2 and V3 always a function; there only ``method`` shows whether it has side
    /// effects.
    package let kind: OperationKind
    /// The name of the import, or the qualified name of a bound operation.
    package let name: String
    /// The HTTP method: GET for a function, POST for an action; in V2 and V3 the value of `m:HttpMethod`.
    package let method: String
    /// The type that the operation is bound to, or nil for an import.
    package let bindingType: TypeReference?
    /// The parameters without the binding parameter.
    package let parameters: [ServiceOperation.Parameter]
    package let returnType: ServiceOperation.ReturnType?
    /// The entity set of the result, if the import declares one.
    package let entitySet: String?
    /// The path from the binding parameter to the entity set of the result, or nil if none is declared.
    package let entitySetPath: [String]?

    /// Whether the operation may have side effects according to the metadata.
    package var mayChangeSomething: Bool { method != "GET" }

    /// Creates an operation that a container imports.
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

    /// Creates a bound operation.
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
    /// Whether an omitted argument can mean null: the parameter is nullable and not a collection.
    var isNullByDefault: Bool { isNullable && !type.isCollection }
}

/// The reason why a function or action cannot be called. Nothing was sent.
package struct InvocationError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// No import, or no operation bound to the type, has the name.
        case unknownOperation
        /// No overload has parameters with these names.
        case parameters
        /// A value is invalid for its parameter.
        case value
        /// The protocol version cannot represent the call.
        case unsupported
    }

    package let code: Code
    /// The reason as one sentence.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
