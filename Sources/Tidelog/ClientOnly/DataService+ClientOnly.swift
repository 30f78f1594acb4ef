import SyncEngine

extension DataService {
    /// Makes all changes of client-only entities, properties and links permanent, so that they cannot be undone any
    /// more.
    ///
    /// Changes that depend on operations for the service are kept later. A store does this by itself with the oldest
    /// changes; see ``OfflineODataParameters/undoableClientChanges``.
    ///
    /// - Returns: The number of operations that ended.
    /// - Throws: `unsupported` if the provider is not a store.
    @discardableResult
    public func keepClientChanges() async throws(TidelogError) -> Int {
        guard let store = provider as? OfflineODataProvider else {
            throw TidelogError(.unsupported, "Client-only changes belong to a store, not to a service.")
        }
        return try await ClientChanges.keepAll(in: try store.engine().store)
    }
}
