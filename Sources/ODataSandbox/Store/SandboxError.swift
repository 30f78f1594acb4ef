internal import ODataWire

/// Why the service refuses: the HTTP status, a code to branch on, a sentence that names the rule, and what it is about.
public struct SandboxError: Error, Hashable, Sendable {
    public enum Code: String, Sendable, Hashable {
        case badRequest = "BadRequest"
        case unknownResource = "UnknownResource"
        case notFound = "NotFound"
        case methodNotAllowed = "MethodNotAllowed"
        case unknownProperty = "UnknownProperty"
        case typeMismatch = "TypeMismatch"
        case nullNotAllowed = "NullNotAllowed"
        case missingKey = "MissingKey"
        case duplicateKey = "DuplicateKey"
        case referentialConstraint = "ReferentialConstraint"
        /// An end of multiplicity 1 would be left without its entity.
        case mandatoryEnd = "MandatoryEnd"
        case notLinked = "NotLinked"
        case preconditionRequired = "PreconditionRequired"
        case preconditionFailed = "PreconditionFailed"
        case tokenRequired = "TokenRequired"
        case unresolvedReference = "UnresolvedReference"
        /// Of a batch: what the request depends on has failed.
        case failedDependency = "FailedDependency"
        case invalidBatch = "InvalidBatch"
        /// The identifier of a repeatable request is malformed, forgotten, or that of another request.
        case notRepeatable = "NotRepeatable"
        case notImplemented = "NotImplemented"
        case injectedFault = "InjectedFault"
    }

    public var status: Int
    public var code: Code
    public var message: String
    /// The property or resource that the refusal is about.
    public var target: String?
    /// The entity that breaks the rule, so that a change set can name the request that touched it.
    var row: RowID?
    /// Further header fields of the answer.
    var headers = HTTPHeaders.empty

    /// What a function or action refuses.
    public init(status: Int, _ code: Code, _ message: String) { self.init(status, code, message) }

    init(_ status: Int, _ code: Code, _ message: String, target: String? = nil, row: RowID? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.row = row
    }
}
