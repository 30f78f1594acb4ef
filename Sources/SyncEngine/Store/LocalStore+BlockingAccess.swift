extension LocalStore {
    /// Reads from the store synchronously, for lazy relations, which are no `async` calls. Blocks the caller while the
    /// store is busy, at most for one transaction.
    package nonisolated func withBlockingAccess<T: Sendable>(
        _ body: @Sendable (isolated LocalStore) throws(TidelogError) -> T
    ) throws(TidelogError) -> T {
        let result = executor.wait {
            assumeIsolated { store in
                Result<T, TidelogError> { () throws(TidelogError) -> T in try body(store) }
            }
        }
        return try result.get()
    }
}
