/// The reason why there is no response. A response of any status is not a transport error.
public struct TransportError: Error, Sendable, Hashable {
    /// The kind of a failure.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The request is invalid: not http or https, credentials in the URL, or invalid characters.
        case invalidRequest
        /// The host name has no address.
        case resolve
        /// The address does not respond.
        case unreachable
        /// No secure connection: the certificate or the protocol is not acceptable.
        case tls
        /// The connection was lost.
        case disconnected
        /// The response ended before it was complete.
        case truncated
        /// A time limit of ``ResponseLimits`` expired.
        case timeout
        /// The response, or its head, exceeds the size or the compression factor that ``ResponseLimits`` allows.
        case tooLarge
        /// The service redirects to another origin, or too often.
        case redirectRefused
        /// The response ended with the trailer `OData-Error` (OData 4.01 Part 1, 9.5): the service failed while
        /// writing it.
        case errorTrailer
        /// The response is not valid HTTP.
        case protocolViolation
        /// The task was cancelled, or the transport was released.
        case cancelled
        /// libcurl cannot be loaded.
        case libraryMissing
        /// Any other error.
        case other
    }

    /// The kind of the failure.
    public var code: Code
    /// A sentence for a person. It contains the method and the URL without credentials and query, and no values of
    /// headers.
    public var message: String
    /// Whether the service may have received the request and acted on it. A redirect other than 303 indicates that it
    /// has not. If `false`, sending again is safe.
    public var mayHaveBeenSent: Bool

    /// Creates an error with a sentence that contains no credentials.
    public init(_ code: Code, _ message: String, mayHaveBeenSent: Bool) {
        self.code = code
        self.message = message
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}

extension TransportError: CustomStringConvertible {
    public var description: String { message }
}
