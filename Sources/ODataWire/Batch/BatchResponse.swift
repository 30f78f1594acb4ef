/// The response of a service to a batch.
///
/// It may contain fewer parts than the request: by default a service stops at the first error. `BatchMatcher` matches
/// the parts with those of the request.
package struct BatchResponse: Sendable, Hashable {
    package var parts: [BatchResponsePart]
    /// Whether the close delimiter was received. If not, the response may be truncated, and a missing part is
    /// inconclusive.
    package var isClosed: Bool

    package init(parts: [BatchResponsePart], isClosed: Bool = true) {
        self.parts = parts
        self.isClosed = isClosed
    }
}

package enum BatchResponsePart: Sendable, Hashable {
    /// The responses to a change set. If the change set failed, some services send no response or a single error here.
    case changeSet([MemberResponse])
    /// The response to a query, or the single error response for a whole change set.
    case single(contentID: String?, WireResponse)

    package struct MemberResponse: Sendable, Hashable {
        /// The echoed Content-ID, which V2 services often omit.
        package var contentID: String?
        package var response: WireResponse

        package init(contentID: String?, response: WireResponse) {
            self.contentID = contentID
            self.response = response
        }
    }
}
