import ODataWire
public import SyncEngine

/// Queries whose results come again when they change.
extension OfflineODataProvider {
    public func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery {
        let store = try engine().store
        switch request {
        case .url(let url): return store.observe(url)
        case .set(let set, let options):
            let path = ResourcePath(segments: [.entitySet(set)], target: .entities(set.entityType, in: set))
            return store.observe(path: path, options: options)
        case .related(let address, let property, let options): return store.observe(address, property, options)
        }
    }

    /// The results of what a URL leads to, `Customers?$filter=…`, from now on. See `LiveQuery`.
    public func observe(_ url: String) throws(TidelogError) -> LiveQuery { try observe(.url(url)) }
}
