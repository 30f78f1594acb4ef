import OfflineStore

extension OfflineODataProvider {
    /// Makes client-only changes permanent, so that they cannot be undone, unless they depend on other operations.
    /// Returns their number. See ``OfflineODataParameters/undoableClientChanges``.
    ///
    /// - Throws: `noStore` if the store is not open.
    @discardableResult
    public func keepClientChanges() async throws(TidelogError) -> Int {
        try await ClientChanges.keepAll(in: try engine().store)
    }
}
