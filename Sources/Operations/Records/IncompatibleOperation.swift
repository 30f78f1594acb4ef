/// A pending operation that does not fit the service's new metadata. It is moved to the error archive with the
/// reason.
public struct IncompatibleOperation: Sendable, Hashable {
    /// The sequence number of the operation.
    public var operation: SequenceNumber
    /// The reason; see `Refusal.isOfModel`.
    public var refusal: Refusal

    /// Creates the record of a pending operation with the reason.
    public init(operation: SequenceNumber, refusal: Refusal) {
        self.operation = operation
        self.refusal = refusal
    }
}

/// The new content of a pending operation, which replaces the old one: the part that fits the service's metadata.
package struct AmendedOperation: Sendable, Hashable {
    package var operation: SequenceNumber
    package var content: Operation

    package init(operation: SequenceNumber, content: Operation) {
        self.operation = operation
        self.content = content
    }
}

extension Refusal {
    /// The code of a refusal that does not originate from the service: the metadata changed, and the operation does
    /// not fit it any more.
    package static let modelChangedCode = "modelChanged"

    /// Creates the refusal of an operation that does not fit the new metadata.
    ///
    /// - Parameters:
    ///   - reason: a sentence.
    ///   - method: the method of the request under the previous metadata.
    ///   - url: the URL of this request.
    ///   - requestBody: the body of this request.
    package init(modelChanged reason: String, method: String = "", url: String = "", requestBody: String? = nil) {
        self.init(
            status: 0, code: Self.modelChangedCode, message: reason, method: method, url: url,
            requestBody: requestBody)
    }

    /// Whether the refusal is caused by changed metadata instead of the service. It has no HTTP status, and the
    /// operation is not sent again until it fits.
    package var isOfModel: Bool { status == 0 && code == Self.modelChangedCode }
}
