extension LocalStore {
    /// Reads from the store without suspending: what a lazy relation needs, which is no `async` call. Blocks the caller while
    /// the store does something else, at most for one transaction.
    package nonisolated func waiting<T: Sendable>(
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
