/// What a defining query is about, as far as its text tells without a model: the entity set that it starts from.
public struct QueryTarget: Sendable, Hashable {
    public let set: String

    /// `query` is relative to the service root; a leading slash is ignored.
    public init(_ query: String) {
        let path = query.drop { $0 == "/" }
        set = String(path.prefix { $0 != "?" && $0 != "(" && $0 != "/" })
    }
}
