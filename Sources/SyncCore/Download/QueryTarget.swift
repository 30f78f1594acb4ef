/// The entity set at the beginning of a defining query, as far as it can be determined without a model.
package struct QueryTarget: Sendable, Hashable {
    package let set: String

    /// Creates the target of a query.
    ///
    /// - Parameter query: A query relative to the service root. A leading slash is ignored.
    package init(_ query: String) {
        let path = query.drop { $0 == "/" }
        set = String(path.prefix { $0 != "?" && $0 != "(" && $0 != "/" })
    }
}
