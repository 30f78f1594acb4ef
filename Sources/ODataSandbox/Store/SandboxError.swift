internal import ODataWire

/// An error response of the service: the HTTP status, a machine-readable code, a message that names the rule, and the
/// target.
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
        /// An end of multiplicity 1 would lose its entity.
        case mandatoryEnd = "MandatoryEnd"
        case notLinked = "NotLinked"
        case preconditionRequired = "PreconditionRequired"
        case preconditionFailed = "PreconditionFailed"
        case tokenRequired = "TokenRequired"
        case unresolvedReference = "UnresolvedReference"
        /// A request of a batch on which this one depends has failed.
        case failedDependency = "FailedDependency"
        case invalidBatch = "InvalidBatch"
        /// The identifier of a repeatable request is malformed, forgotten, or belongs to a different request.
        case notRepeatable = "NotRepeatable"
        case notImplemented = "NotImplemented"
        case injectedFault = "InjectedFault"
    }

    public var status: Int
    public var code: Code
    public var message: String
    /// A code that replaces ``code`` in the response.
    var ownCode: String?
    /// The property or resource that the error concerns.
    public var target: String?
    /// The entity that violates the rule, from which a change set determines the request that changed it.
    var row: RowID?
    /// Additional headers of the response.
    var headers = HTTPHeaders.empty

    /// Creates an error of a function or action.
    public init(status: Int, _ code: Code, _ message: String) { self.init(status, code, message) }

    init(_ status: Int, _ code: Code, _ message: String, target: String? = nil, row: RowID? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.target = target
        self.row = row
    }
}
