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
    /// The changed items, or nil while they are not tracked.
    var dirtyItems: DirtyItems?

    init(_ digest: IncrementalDigest, _ dirtyItems: DirtyItems? = nil) {
        self.digest = digest
        self.dirtyItems = dirtyItems
    }

    /// Throws if the running transaction is deferred, and records that it requires the backing.
    func requireBacking() throws(StateError) {
        guard phase == .deferring else { return }
        isDeferralRefused = true
        throw StateError(.unavailable, "The transaction needs the stored views.")
    }
}
