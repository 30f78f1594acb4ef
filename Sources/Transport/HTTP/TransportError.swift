/// Why there is no response. A response of any status is none of these.
public struct TransportError: Error, Sendable, Hashable {
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The request cannot be sent as it is: no http or https, credentials in the URL, characters that are not allowed.
        case invalidRequest
        /// The host name has no address.
        case resolve
        /// Nothing answers at the address.
        case unreachable
        /// No secure connection: the certificate, or the protocol.
        case tls
        /// The connection broke.
        case disconnected
        /// The response ended before it was complete.
        case truncated
        /// A time limit of ``ResponseLimits`` passed.
        case timeout
        /// The response, or its head, is larger than ``ResponseLimits`` allow, or was compressed more than they allow.
        case tooLarge
        /// The service redirects to another origin, or without end.
        case redirectRefused
        /// The response ended with the trailer `OData-Error` (OData 4.01 Part 1, 9.5): the service failed while it wrote it.
        case errorTrailer
        /// What came is not HTTP.
        case protocolViolation
        /// The task was cancelled, or the transport was released.
        case cancelled
        /// libcurl cannot be loaded.
        case libraryMissing
        /// Anything else.
        case other
    }

    public var code: Code
    /// A sentence for a person. It names the method and the URL without credentials and query, and no header's value.
    public var message: String
    /// Whether the service may have got the request, and acted on it: a redirect other than 303 says that it has not. Where this is false, to send again is safe.
    public var mayHaveBeenSent: Bool

    public init(_ code: Code, _ message: String, mayHaveBeenSent: Bool) {
        self.code = code
        self.message = message
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}

extension TransportError: CustomStringConvertible {
    public var description: String { message }
}
