public import Operations
public import SyncCore

/// Why a call failed: a code to branch on, a sentence to read, the place, the cause and what to do next.
///
/// Never holds a password, a token or a cookie, and of a URL that was requested not the query part.
public struct TidelogError: Error, Sendable, CustomStringConvertible {
    /// Grouped by what the caller has to do.
    public enum Code: Sendable, Hashable {
        /// The metadata forbids it; nothing was logged. Correct the call.
        case refused(OperationRefused.Code)
        /// The query, path or JSON does not parse or names something that is not there. Correct the text.
        case invalidRequest
        /// The entity is not in the store (offline) or not on the service (online).
        case notFound
        /// There is no store in the directory, or it was not opened.
        case noStore
        /// Another process writes to the store. Try again when it is done.
        case locked
        /// A file of the store is damaged. See ``TidelogError/recovery``.
        case damaged
        /// The store is encrypted. Open it with its key; nothing was changed.
        case keyRequired
        /// The store is encrypted with another key than those given. Nothing was changed.
        case wrongKey
        /// The disk refused: full, read-only, broken. Open the store again when that is mended.
        case storage
        /// No answer: no network, no such host, time-out. Try again later.
        case unreachable
        /// The call, or the upload or download that it waited for, was cancelled. What was on its way is in doubt; the next
        /// upload settles it.
        case cancelled
        /// The service asked to be left alone until then (milliseconds since 1970), or failed so often that it is better left
        /// alone.
        case postponed(until: Timestamp)
        /// The service wants other credentials (401, 403).
        case unauthorized
        /// The service answered with that HTTP status.
        case service(status: Int)
        /// The answer is not what OData prescribes: another kind of server, or another version.
        case notOData
        /// The answer is larger than ``ServiceLimits`` allow, or its pages do not end. Ask for less at once, or raise the limits.
        case tooLarge
        /// The service's metadata have changed in a way that nobody has approved; those that were known stay in force. The
        /// cause is ``IncompatibleMetadata``.
        case incompatibleMetadata
        /// The service answered in a way that leaves open whether a change took effect.
        case inDoubt
        /// What was asked for is not built yet, or the service cannot do it.
        case unsupported
    }

    public let code: Code
    /// One sentence.
    public let message: String
    /// A file with an offset, or a URL, or a line of input.
    public let place: String?
    /// What to do next, one sentence.
    public let recovery: String?
    public let cause: (any Error)?
    /// What an upload had come to when it failed; nil for anything else.
    public private(set) var upload: UploadReport?
    /// What a download had come to when it failed, the queries that it read included; nil for anything else. Where several
    /// queries failed, each has its error in ``DownloadReport/failures``.
    public private(set) var download: DownloadReport?

    public init(
        _ code: Code, _ message: String, place: String? = nil, recovery: String? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.place = place
        self.recovery = recovery
        self.cause = cause
    }

    /// The error with what the upload had come to.
    func after(_ report: UploadReport) -> TidelogError {
        var error = self
        error.upload = report
        return error
    }

    /// The error with what the download had come to.
    func after(_ report: DownloadReport) -> TidelogError {
        var error = self
        error.download = report
        return error
    }

    public var description: String {
        [message, place.map { "(\($0))" }, recovery].compactMap { $0 }.joined(separator: " ")
    }
}
