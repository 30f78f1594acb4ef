/// A deferred transaction needs the backing. The caller runs it again with ``WorkingSet/transaction(_:)``.
package struct DeferralRefused: Error {}

/// Transactions whose changes stay in memory until the next flush (write-behind).
///
/// The log contains their records, so a crash before the flush loses nothing: opening folds the records again.
extension WorkingSet {
    /// Runs `body` in a transaction in memory. If it throws, its changes are rolled back.
    ///
    /// Cost: independent of the backing. A rollback is linear in the number of changes.
    ///
    /// - Throws: ``DeferralRefused`` if `body` must change the backing, or see its own changes there; otherwise the
    ///   error of `body`.
    package func deferredTransaction<T>(_ body: () throws -> T) throws -> T {
        guard backing != nil else { return try body() }
        try commitSharedTransaction()
        try queue.load()
        tracking.phase = .deferring
        tracking.isDeferralRefused = false
        tracking.start(ChangeJournal(cachedHeader))
        queue.begin()
        defer {
            _ = tracking.endJournal()
            tracking.phase = .idle
        }
        do {
            let result = try body()
            try checkDeferral()
            queue.commit()
            return result
        } catch {
            queue.rollBack()
            tracking.endJournal()?.rollBack(self)
            throw tracking.isDeferralRefused ? DeferralRefused() : error
        }
    }

    /// Throws if the running transaction is deferred and needs the backing. Must be called before a step that cannot be
    /// rolled back.
    package func checkDeferral() throws(DeferralRefused) {
        if tracking.phase == .deferring, tracking.isDeferralRefused { throw DeferralRefused() }
    }
}
