import ODataQuery
public import OfflineStore
public import Views

/// Queries whose results are delivered again when they change.
extension OfflineODataProvider {
    /// Returns the results of a query from now on. See `LiveQuery`.
    ///
    /// - Throws: `unsupported` unless the query reads a set, a URL or a navigation property.
    package func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery {
        try engine().store.observe(request)
    }

    /// Returns the results of a URL such as `Customers?$filter=…` from now on. See `LiveQuery`.
    ///
    /// - Throws: `noStore` if the store is not open. An error in the URL is thrown by the iteration.
    public func observe(_ url: String) throws(TidelogError) -> LiveQuery { try observe(.url(url)) }

    /// Returns a description of how the store executes a query: its SQL, SQLite's plan, and the steps in memory.
    ///
    /// The description contains no property values. Explaining a query costs as much as executing it.
    package func explain(_ request: QueryRequest) async throws(TidelogError) -> QueryExplanation {
        try await engine().store.explain(request)
    }

    /// Returns a description of how the store executes a URL such as `Customers?$filter=…`.
    ///
    /// - Throws: `invalidRequest` if the URL does not parse or names something that the metadata does not contain;
    ///   `unsupported` if the store cannot evaluate it; `noStore` if the store is not open.
    public func explain(_ url: String) async throws(TidelogError) -> QueryExplanation { try await explain(.url(url)) }
}

extension LocalStore {
    nonisolated fileprivate func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery {
        switch request {
        case .url(let url): return observe(url)
        case .set(let set, let options):
            let path = ResourcePath(segments: [.entitySet(set)], target: .entities(set.entityType, in: set))
            return observe(path: path, options: options)
        case .related(let address, let property, let options): return observe(address, property, options)
        case .entity, .sources: throw .notObserved
        }
    }

    fileprivate func explain(_ request: QueryRequest) throws(TidelogError) -> QueryExplanation {
        switch request {
        case .url(let url): return try explain(url)
        case .set(let set, let options):
            let path = ResourcePath(segments: [.entitySet(set)], target: .entities(set.entityType, in: set))
            return try explain(path: path, options: options)
        case .related(let address, let property, let options):
            return try explain(address, property, options)
        case .entity, .sources: throw .notObserved
        }
    }
}

extension TidelogError {
    fileprivate static var notObserved: TidelogError {
        TidelogError(
            .unsupported,
            "Only queries for entity sets, URLs and navigation properties can be observed and explained.",
            recovery: "Query the entity set with a filter.")
    }
}
