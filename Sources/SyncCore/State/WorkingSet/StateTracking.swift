/// The tracked changes of a working set: transaction, digest and changed items. Shared with its bookkeeping.
final class StateTracking {
    /// The kind of a transaction.
    enum Phase {
        case idle
        /// A transaction of the backing, to which every flush writes.
        case storing
        /// A transaction in memory; see ``WorkingSet/deferredTransaction(_:)``.
        case deferring
    }

    /// The kind of the running transaction.
    var phase = Phase.idle
    /// Whether the deferred transaction requires the backing.
    var isDeferralRefused = false
    /// The digest of the state.
    var digest: IncrementalDigest
    /// Whether ``digest`` is maintained.
    let keepsDigest: Bool
    /// The changed items, or nil while they are not tracked.
    var dirtyItems: DirtyItems?
    /// The changes of the deferred transaction, or nil if none is running.
    var journal: ChangeJournal?
    private var hasDirtyItems: Bool
    /// Whether changes have to be recorded: in the digest, as changed items, or in the journal.
    private(set) var isActive: Bool

    init(_ digest: IncrementalDigest, _ dirtyItems: DirtyItems? = nil) {
        self.digest = digest
        self.dirtyItems = dirtyItems
        keepsDigest = digest.isKept
        hasDirtyItems = dirtyItems != nil
        isActive = keepsDigest || hasDirtyItems
    }

    func startDirtyItems() {
        dirtyItems = DirtyItems()
        (hasDirtyItems, isActive) = (true, true)
    }

    func start(_ journal: ChangeJournal) {
        self.journal = journal
        isActive = true
    }

    /// Removes and returns the journal.
    func endJournal() -> ChangeJournal? {
        isActive = keepsDigest || hasDirtyItems
        return journal.take()
    }

    /// Throws if the running transaction is deferred, and records that it requires the backing.
    func requireBacking() throws(StateError) {
        guard phase == .deferring else { return }
        isDeferralRefused = true
        throw StateError(.unavailable, "The transaction needs the stored views.")
    }
}
