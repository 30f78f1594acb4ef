/// The response of a service to a batch.
///
/// It may contain fewer parts than the request: by default a service stops at the first error. `BatchMatcher` matches
/// the parts with those of the request.
public struct BatchResponse: Sendable, Hashable {
    public var parts: [BatchResponsePart]
    /// Whether the close delimiter was received. If not, the response may be truncated, and a missing part is
    /// inconclusive.
    public var isClosed: Bool

    public init(parts: [BatchResponsePart], isClosed: Bool = true) {
        self.parts = parts
        self.isClosed = isClosed
    }
}

public enum BatchResponsePart: Sendable, Hashable {
    /// The responses to a change set. If the change set failed, some services send no response or a single error here.
    case changeSet([MemberResponse])
    /// The response to a query, or the single error response for a whole change set.
    case single(contentID: String?, WireResponse)

    public struct MemberResponse: Sendable, Hashable {
        /// The echoed Content-ID, which V2 services often omit.
        public var contentID: String?
        public var response: WireResponse

        public init(contentID: String?, response: WireResponse) {
            self.contentID = contentID
            self.response = response
        }
    }
}
