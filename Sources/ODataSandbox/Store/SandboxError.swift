internal import ODataWire

/// An error response of the service: the HTTP status, a machine-readable code, a message that names the rule, and the
/// target.
public struct SandboxError: Error, Hashable, Sendable {
    /// The machine-readable reason of an error. The raw value is the code of the response.
    public enum Code: String, Sendable, Hashable {
        /// The request is malformed, or the service does not accept it in this form.
        case badRequest = "BadRequest"
        /// The URL names no resource of the service.
        case unknownResource = "UnknownResource"
        /// The entity or its content does not exist.
        case notFound = "NotFound"
        /// The resource does not support the method.
        case methodNotAllowed = "MethodNotAllowed"
        /// The type has no property of this name.
        case unknownProperty = "UnknownProperty"
        /// The value does not have the type of the property.
        case typeMismatch = "TypeMismatch"
        /// A property without null has no value.
        case nullNotAllowed = "NullNotAllowed"
        /// A create has no value for a key property.
        case missingKey = "MissingKey"
        /// An entity with this key exists.
        case duplicateKey = "DuplicateKey"
        /// A referential constraint is violated.
        case referentialConstraint = "ReferentialConstraint"
        /// An end of multiplicity 1 would lose its entity.
        case mandatoryEnd = "MandatoryEnd"
        /// The entities are not linked.
        case notLinked = "NotLinked"
        /// A change without `If-Match` requires the ETag.
        case preconditionRequired = "PreconditionRequired"
        /// The entity does not satisfy `If-Match` or `If-None-Match`.
        case preconditionFailed = "PreconditionFailed"
        /// A modification in V2 has no valid CSRF token.
        case tokenRequired = "TokenRequired"
        /// A `$<Content-ID>` refers to no earlier request.
        case unresolvedReference = "UnresolvedReference"
        /// A request of a batch on which this one depends has failed.
        case failedDependency = "FailedDependency"
        /// The batch is malformed, or contains a request that it must not contain.
        case invalidBatch = "InvalidBatch"
        /// The identifier of a repeatable request is malformed, forgotten, or belongs to a different request.
        case notRepeatable = "NotRepeatable"
        /// The sandbox does not support the request.
        case notImplemented = "NotImplemented"
        /// The error of a ``Fault``.
        case injectedFault = "InjectedFault"
    }

    /// The HTTP status of the response.
    public var status: Int
    /// The machine-readable reason.
    public var code: Code
    /// The message, which names the violated rule.
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
