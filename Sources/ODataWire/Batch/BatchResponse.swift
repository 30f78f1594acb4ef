/// What a service answered to a batch. It may hold fewer parts than were sent: by default a service stops at the first
/// error. `BatchMatcher` tells which part answers which.
public struct BatchResponse: Sendable, Hashable {
    public var parts: [BatchResponsePart]
    /// Whether the final delimiter came. Where it did not, the answer may have been cut off, and nothing can be said
    /// of a part that is missing.
    public var isClosed: Bool

    public init(parts: [BatchResponsePart], isClosed: Bool = true) {
        self.parts = parts
        self.isClosed = isClosed
    }
}

public enum BatchResponsePart: Sendable, Hashable {
    /// A part that holds the responses to a change set; empty or with a single error where it failed on some services.
    case changeSet([MemberResponse])
    /// The response to a query, or the one error response for a whole change set.
    case single(contentID: String?, WireResponse)

    public struct MemberResponse: Sendable, Hashable {
        /// The echoed Content-ID; V2 services often leave it out.
        public var contentID: String?
        public var response: WireResponse

        public init(contentID: String?, response: WireResponse) {
            self.contentID = contentID
            self.response = response
        }
    }
}
