/// What a call asks for besides its effect.
public struct RequestOptions: Sendable, Hashable {
    public static let none = RequestOptions()

    /// The app's own mark: it comes back with the operation's status and with errors.
    public var customTag: String?

    public init(customTag: String? = nil) { self.customTag = customTag }
}
