public import Operations
public import SyncCore

/// The error of a failed call: a code, a message, the place, the cause and a recovery suggestion.
///
/// It never contains a password, token or cookie, nor the query part of a requested URL.
public struct TidelogError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, grouped by the caller's reaction.
    public enum Code: Sendable, Hashable {
        /// The metadata forbid the operation; nothing was logged. Correct the call.
        case refused(OperationRefused.Code)
        /// The query, path or JSON does not parse, or refers to something that does not exist. Correct the text.
        case invalidRequest
        /// The entity is not in the store (offline) or not on the service (online).
        case notFound
        /// There is no store in the directory, or it was not opened.
        case noStore
        /// Another process writes to the store. Try again when it has finished.
        case locked
        /// A file of the store is damaged. See ``TidelogError/recovery``.
        case damaged
        /// The store is encrypted. Open it with its key; nothing was changed.
        case keyRequired
        /// The store is encrypted with a key that was not passed. Nothing was changed.
        case wrongKey
        /// The disk is full, read-only or broken. Open the store again after the repair.
        case storage
        /// There was no response: no network, unknown host, or timeout. Try again later.
        case unreachable
        /// The call, or the upload or download that it waited for, was cancelled. Operations in flight are in doubt;
        /// the next upload resolves them.
        case cancelled
        /// The service asked the client to wait until this time (milliseconds since 1970), or failed repeatedly.
        case postponed(until: Timestamp)
        /// The service requires other credentials (401, 403).
        case unauthorized
        /// The service returned this HTTP status.
        case service(status: Int)
        /// The response does not conform to OData: another kind of server, or another version.
        case notOData
        /// The response exceeds ``ServiceLimits``, or its pages do not end. Request less at once, or raise the limits.
        case tooLarge
        /// The service's metadata have changed in a way that was not approved; the previous ones stay in use. The cause
        /// is ``IncompatibleMetadata``.
        case incompatibleMetadata
        /// The outcome of a change is unknown after the service's response.
        case inDoubt
        /// The request is not implemented, or the service does not support it.
        case unsupported
    }

    /// The kind of error.
    public let code: Code
    /// The message: one sentence.
    public let message: String
    /// The place: a file with an offset, a URL, or a line of input.
    public let place: String?
    /// The recovery suggestion: one sentence.
    public let recovery: String?
    /// The error of a lower layer, if there is one.
    public let cause: (any Error)?
    /// The report of a failed upload up to the error; nil for other errors.
    public private(set) var upload: UploadReport?
    /// The report of a failed download up to the error, including the queries that succeeded; nil for other errors. If
    /// several queries failed, ``DownloadReport/failures`` contains the error of each.
    public private(set) var download: DownloadReport?

    /// Creates an error with a sentence that states the failure, and optionally its place, remedy and cause.
    public init(
        _ code: Code, _ message: String, place: String? = nil, recovery: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.place = place
        self.recovery = recovery
        self.cause = cause
    }

    /// Returns the error with the report of the upload.
    package func after(_ report: UploadReport) -> TidelogError {
        var error = self
        error.upload = report
        return error
    }

    /// Returns the error with the report of the download.
    package func after(_ report: DownloadReport) -> TidelogError {
        var error = self
        error.download = report
        return error
    }

    public var description: String {
        [message, place.map { "(\($0))" }, recovery].compactMap { $0 }.joined(separator: " ")
    }
}
