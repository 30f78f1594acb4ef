/// A pending operation that the service's new metadata have no place for: it goes to the error archive, with the reason.
public struct UnfitOperation: Sendable, Hashable {
    public var operation: SequenceNumber
    /// See `Refusal.isOfModel`.
    public var refusal: Refusal

    public init(operation: SequenceNumber, refusal: Refusal) {
        self.operation = operation
        self.refusal = refusal
    }
}

/// What a pending operation says from now on, in place of what it said: the part of it that the service's metadata have a
/// place for.
public struct AmendedOperation: Sendable, Hashable {
    public var operation: SequenceNumber
    public var content: Operation

    public init(operation: SequenceNumber, content: Operation) {
        self.operation = operation
        self.content = content
    }
}

extension Refusal {
    /// The code of what no service refused: the metadata changed, and the operation does not fit them any more.
    public static let modelChangedCode = "modelChanged"

    /// - Parameters:
    ///   - reason: a sentence.
    ///   - method: of the request as it would have been sent by the metadata before.
    public init(modelChanged reason: String, method: String = "", url: String = "", requestBody: String? = nil) {
        self.init(
            status: 0, code: Self.modelChangedCode, message: reason, method: method, url: url,
            requestBody: requestBody)
    }

    /// Whether it is not the service that refused: the metadata changed, and the operation does not fit them any more. It
    /// has no HTTP status, and is not sent again before it fits.
    public var isOfModel: Bool { status == 0 && code == Self.modelChangedCode }
}
