/// The content of a `$batch` request: change sets, each atomic, and individual requests between them.
///
/// The parts are processed in order (OData 4.01 Part 1, section 11.7; V2 likewise).
package struct BatchRequest: Sendable, Hashable {
    package var parts: [BatchPart]
    /// The conditions of parts, by their positions. They refer to earlier parts, and only batches in JSON have them.
    ///
    /// A part without a condition is executed if all parts before it succeeded, except for those that their condition
    /// excluded.
    package var conditions: [Int: BatchCondition]

    package init(parts: [BatchPart], conditions: [Int: BatchCondition] = [:]) {
        self.parts = parts
        self.conditions = conditions
    }
}

package enum BatchPart: Sendable, Hashable {
    /// An atomic group of requests. The service may execute the members in any order.
    case changeSet([Member])
    /// A request outside of any change set: usually a query; in V4 also a single modification. If it has a Content-ID,
    /// the header of that name contains it.
    case query(WireRequest)

    /// A request of a change set.
    package struct Member: Sendable, Hashable {
        /// The Content-ID, unique in the batch. V4 requires one; nil occurs only in V2 requests of other clients.
        package var contentID: String?
        package var request: WireRequest

        package init(contentID: String?, request: WireRequest) {
            self.contentID = contentID
            self.request = request
        }
    }
}
