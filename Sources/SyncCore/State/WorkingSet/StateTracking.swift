/// What a working set tracks of its changes, shared with its bookkeeping.
final class StateTracking {
    /// The kind of a transaction.
    enum Phase {
        case idle
        /// A transaction of the backing, which takes every flush.
        case storing
        /// A transaction in memory; see ``WorkingSet/deferredTransaction(_:)``.
        case deferring
    }

    /// The kind of the running transaction.
    var phase = Phase.idle
    /// Whether the deferred transaction needs the backing.
    var isDeferralRefused = false
    /// The digest of the state.
    var digest: IncrementalDigest
    /// The changed items, or nil while they are not tracked.
    var dirtyItems: DirtyItems?

    init(_ digest: IncrementalDigest, _ dirtyItems: DirtyItems? = nil) {
        self.digest = digest
        self.dirtyItems = dirtyItems
    }

    /// Throws if the running transaction is deferred, and marks that it needs the backing.
    func requireBacking() throws(StateError) {
        guard phase == .deferring else { return }
        isDeferralRefused = true
        throw StateError(.unavailable, "The transaction needs the stored views.")
    }
}
