/// What is sent to `$batch`: change sets, each atomic, and single requests between them, processed in order
/// (OData 4.01 Part 1, section 11.7; V2 likewise).
public struct BatchRequest: Sendable, Hashable {
    public var parts: [BatchPart]

    public init(parts: [BatchPart]) { self.parts = parts }
}

public enum BatchPart: Sendable, Hashable {
    /// All or nothing. The service may execute the members in any order.
    case changeSet([Member])
    /// A request outside of any change set: a query as a rule, in V4 also a single modification.
    /// Its Content-ID, where it has one, is a header of that name.
    case query(WireRequest)

    /// One request of a change set.
    public struct Member: Sendable, Hashable {
        /// Unique in the batch. V4 requires one; nil only in V2 requests of other clients.
        public var contentID: String?
        public var request: WireRequest

        public init(contentID: String?, request: WireRequest) {
            self.contentID = contentID
            self.request = request
        }
    }
}
