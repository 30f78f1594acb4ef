public import Operations

/// A request that needs somebody: the service refused it, whether it took effect cannot be known, or others have changed
/// the same entity.
public struct ErrorArchiveEntry: Sendable, Hashable {
    /// The number of the operation; also the key in the entity set `ErrorArchive`.
    public var requestID: SequenceNumber
    public var state: State
    /// Milliseconds since 1970 at which the app asked for it.
    public var time: Timestamp
    /// `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var action: String
    /// The service's answer; nil where there is none.
    public var httpStatusCode: Int?
    /// The service's own code, empty where it gave none.
    public var code: String
    /// The service's words, or why it is not known how the request ended.
    public var message: String
    /// Raw JSON, or the start of an answer that is no OData error.
    public var innerError: String?
    public var errorClass: ErrorClass
    /// As it was sent. Of one that has no answer, as it would be sent now, with the store's own links.
    public var requestMethod: String
    public var requestURL: String
    public var requestBody: String?
    public var customTag: String?
    public var customHeaders: [Operation.Header]
    public var entity: EntityID
    /// The readLink of the affected entity, as `Customers(~7)`: good for ever.
    public var affectedEntity: String

    public enum State: String, Sendable, Hashable {
        case rejected
        case inDoubt
        /// Somebody else changed the entity as well, and nothing has been decided yet.
        case conflict
    }
}

/// What sort of error it is, so that an app can tell what a user can do about it.
public enum ErrorClass: String, Sendable, Hashable {
    case invalidInput
    case notAuthorized
    case notFound
    case conflict
    case preconditionFailed
    case notSupported
    case serverSide
    /// No answer, or none that tells.
    case communication
    /// No service has seen it: its metadata have changed, and have no place for it any more.
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
