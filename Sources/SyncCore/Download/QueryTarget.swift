/// The entity set at the beginning of a defining query, as far as it can be determined without a model.
public struct QueryTarget: Sendable, Hashable {
    public let set: String

    /// Creates the target of a query.
    ///
    /// - Parameter query: A query relative to the service root. A leading slash is ignored.
    public init(_ query: String) {
        let path = query.drop { $0 == "/" }
        set = String(path.prefix { $0 != "?" && $0 != "(" && $0 != "/" })
    }
}
