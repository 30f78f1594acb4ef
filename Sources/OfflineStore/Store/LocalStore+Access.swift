/// Calls from outside the executor of the store.
extension LocalStore {
    /// Reads from the store synchronously, for lazy relations, which are no `async` calls. Blocks the caller while the
    /// store is busy, at most for one transaction.
    package nonisolated func withBlockingAccess<T: Sendable>(
        _ body: @Sendable (isolated LocalStore) throws(TidelogError) -> T
    ) throws(TidelogError) -> T { try core.executor.wait { result(body) }.get() }

    /// Calls `body`, which is short, within the store.
    ///
    /// If the calling task is on no actor and the store is idle, `body` runs on the task's thread, as it would with a
    /// default actor. That saves two changes of the thread, which take longer than a short call. A caller on an actor,
    /// such as the main actor, keeps its thread free: its call runs on the queue of the store.
    ///
    /// - Parameter caller: The actor of the calling task, or nil if it has none.
    package func withShortAccess<T: Sendable>(
        _ caller: isolated (any Actor)? = #isolation,
        _ body: @Sendable (isolated LocalStore) throws(TidelogError) -> T
    ) async throws(TidelogError) -> T {
        if caller == nil, let result = core.executor.runIfIdle({ result(body) }) { return try result.get() }
        return try await withQueuedAccess(body)
    }

    private func withQueuedAccess<T: Sendable>(
        _ body: @Sendable (isolated LocalStore) throws(TidelogError) -> T
    ) throws(TidelogError) -> T { try body(self) }

    /// Returns the result of `body`. The caller has to be on the executor of the store.
    private nonisolated func result<T: Sendable>(
        _ body: @Sendable (isolated LocalStore) throws(TidelogError) -> T
    ) -> Result<T, TidelogError> {
        assumeIsolated { store in
            Result<T, TidelogError> { () throws(TidelogError) -> T in try body(store) }
        }
    }
}
