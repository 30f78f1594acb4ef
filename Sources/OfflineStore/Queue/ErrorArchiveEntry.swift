public import Operations

/// A request that needs attention: the service rejected it, its outcome is unknown, or another client changed the same
/// entity.
public struct ErrorArchiveEntry: Sendable, Hashable {
    /// The number of the operation, which is also the key in the entity set `ErrorArchive`.
    public var requestID: SequenceNumber
    /// The reason why the operation is in the archive.
    public var state: RequestState
    /// The time of the app's call, in milliseconds since 1970.
    public var time: Timestamp
    /// `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var action: String
    /// The status of the service's response, or nil if there was none.
    public var httpStatusCode: Int?
    /// The service's error code, or an empty string if there was none.
    public var code: String
    /// The service's error message, or the reason why the outcome is unknown.
    public var message: String
    /// Raw JSON, or the beginning of a response that is not an OData error.
    public var innerError: String?
    /// The kind of error, by its status.
    public var errorClass: ErrorClass
    /// The method of the request as it was sent. For an operation without a response, method, URL and body are those
    /// that it would have now, with the store's own links.
    public var requestMethod: String
    /// The URL of the request, relative to the service root.
    public var requestURL: String
    /// The body of the request; nil if it has none.
    public var requestBody: String?
    /// The tag that the app gave to the operation; nil if it gave none.
    public var customTag: String?
    package var headers: [Operation.Header]
    /// The headers that the app has set for the request.
    public var customHeaders: [(name: String, value: String)] { headers.map { ($0.name, $0.value) } }
    /// The entity that the operation is about.
    public var entity: EntityID
    /// The readLink of the affected entity, such as `Customers(~7)`. It stays valid permanently.
    public var affectedEntity: String

    /// The state of an archived operation.
    public enum RequestState: String, Sendable, Hashable {
        /// The service rejected the request.
        case rejected
        /// The response is missing or inconclusive.
        case inDoubt
        /// Another client changed the entity too, and the conflict is undecided.
        case conflict
    }
}

/// The class of an error, by which an app can suggest an action to the user.
public enum ErrorClass: String, Sendable, Hashable {
    /// The service rejected the content of the request: another status below 500.
    case invalidInput
    /// The user is not authenticated or lacks a permission: status 401, 403 or 407.
    case notAuthorized
    /// The resource does not exist: status 404 or 410.
    case notFound
    /// The request contradicts the state of the resource: status 409.
    case conflict
    /// The entity has changed, or the request lacks its ETag: status 412 or 428.
    case preconditionFailed
    /// The service does not support the request: status 405, 406, 415 or 501.
    case notSupported
    /// The service failed: status 500 or above, except for 501.
    case serverSide
    /// There was no response, or not a conclusive one.
    case communication
    /// The operation was never sent, because it no longer fits the service's metadata.
    case modelChanged

    init(status: Int) {
        self =
            switch status {
            case 401, 403, 407: .notAuthorized
            case 404, 410: .notFound
            case 409: .conflict
            case 412, 428: .preconditionFailed
            case 405, 406, 415, 501: .notSupported
            case 500...: .serverSide
            default: .invalidInput
            }
    }
}
