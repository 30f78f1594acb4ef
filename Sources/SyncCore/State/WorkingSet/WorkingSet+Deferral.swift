/// A deferred transaction needs the backing: the caller runs it again with ``WorkingSet/transaction(_:)``.
public struct DeferralRefused: Error {}

/// Transactions whose changes stay in memory until the next flush (write-behind).
///
/// The log has what they do, so a process that ends before the flush loses nothing: the next one folds the records again.
extension WorkingSet {
    /// Runs `body` in a transaction of the working set alone: all that it changes is kept in memory, or nothing.
    ///
    /// Cost: does not depend on the backing; a rollback costs as much as the changes.
    ///
    /// - Throws: ``DeferralRefused`` if `body` has to change the backing, or to see its changes there; otherwise what `body`
    ///   throws. Nothing of what it did remains.
    public func deferredTransaction<T>(_ body: () throws -> T) throws -> T {
        guard backing != nil else { return try body() }
        try commitGathered()
        try queue.load()
        phase = .deferring
        isDeferralRefused = false
        journal = ChangeJournal(header: knownHeader, isHeaderChanged: isHeaderChanged)
        queue.begin()
        defer {
            journal = nil
            phase = .idle
        }
        do {
            let result = try body()
            try checkDeferral()
            queue.commit()
            return result
        } catch {
            queue.rollBack()
            rollBackDeferred()
            throw isDeferralRefused ? DeferralRefused() : error
        }
    }

    /// Throws if the running transaction is a deferred one that needs the backing. Belongs before what cannot be rolled back.
    public func checkDeferral() throws(DeferralRefused) {
        if phase == .deferring, isDeferralRefused { throw DeferralRefused() }
    }

    /// Refuses to change the backing in a deferred transaction.
    func requireBacking() throws(StateError) {
        guard phase == .deferring else { return }
        isDeferralRefused = true
        throw StateError(.unavailable, "The transaction needs the stored views.")
    }

    private func rollBackDeferred() {
        guard let journal = journal.take() else { return }
        for change in journal.changes.reversed() {
            switch change {
            case .row(let id, let former): rowTable.restore(id, to: former)
            case .link(let key, let former): linkTable.restore(key, to: former)
            case .base(let id, let former?): bases.updateValue(former, for: id)
            case .base(let id, nil): bases.removeValue(for: id)
            case .key(let key, let former): keys[key] = former
            case .registration(let id): register.remove(id)
            }
        }
        (knownHeader, isHeaderChanged) = (journal.header, journal.isHeaderChanged)
    }
}
