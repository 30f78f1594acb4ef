/// What a call asks for besides its effect.
public struct RequestOptions: Sendable, Hashable {
    public static let none = RequestOptions()

    /// The app's own mark: it comes back with the operation's status and with errors.
    public var customTag: String?

    /// Puts operations together: all that wait for the upload and have the same transactionID are sent in one change set, so
    /// that the service does all of them or none, whenever they were made. What one of them needs of the operations between
    /// them goes along. Where one of them has to wait, or was refused, all of them wait.
    ///
    /// Each operation takes effect here at once and has to be legal by itself, since nobody knows which one is the last. Use
    /// a ``ChangeSet`` where only all of them together are legal.
    public var transactionID: String?

    public init(customTag: String? = nil, transactionID: String? = nil) {
        self.customTag = customTag
        self.transactionID = transactionID
    }
}
