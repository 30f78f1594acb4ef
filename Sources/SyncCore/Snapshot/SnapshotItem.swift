package import Operations

/// An element of a state snapshot.
///
/// A snapshot is a sequence of items in the order of the cases. Items of one case are ordered by their identifiers, so
/// that equal states give equal bytes.
package enum SnapshotItem: Sendable, Hashable {
    /// The counters. The first item, exactly once. The service is an item of its own.
    case header(applied: SequenceNumber, nextEntity: EntityID, nextBatch: BatchID)
    /// The service. At most once, since the metadata may be megabytes.
    case service(ServiceDescription)
    /// A defining query, in the order in which the queries were added.
    case query(QueryState)
    /// An entity that was ever in the log, including deleted ones.
    case entity(EntityID, set: String)
    /// A key that the service ever assigned. An entity may have several.
    case key(String, set: String, of: EntityID)
    /// A row, ordered by set and then by entity.
    case row(EntityRow)
    case base(EntityID, BaseState)
    case link(LinkRow)
    /// A pending operation: first those without a transactionID, then those with one. Those with later attributes
    /// follow ``undone(_:)``, and after these the undone ones with such attributes.
    case pending(PendingOperation)
    /// The download `run` of the query contained the entity.
    case coverage(query: String, EntityID, run: SequenceNumber)
    /// An undone operation, ordered by its own sequence number.
    case undone(UndoneOperation)
    /// The postponement. At most once.
    case postponed(Postponement)
    /// An open batch, ordered by number.
    case openBatch(OpenBatch)
    /// A merge base, ordered by entity.
    case ancestor(MergeBase)
    /// The time of an operation's status, if it differs from the time of the operation. Ordered by sequence number,
    /// first for pending operations, then for undone ones.
    case since(Timestamp, SequenceNumber)
    /// The record with which the last download began. Once, after the first download.
    case lastDownload(SequenceNumber)
    /// The streams of an entity in the order of the state, ordered by entity.
    case streams(EntityID, [StreamImage])
    /// The events in chronological order. At most once.
    case events([StoreEvent])
    /// The dangling links in the order of the deltas. At most once.
    case openLinks([OpenLink])
    /// The quarantined entities in chronological order. At most once.
    case quarantine([QuarantineEntry])
    /// The number of items before it, and the digest of their state. The last item, exactly once.
    case end(items: UInt64, digest: StateDigest)
}
