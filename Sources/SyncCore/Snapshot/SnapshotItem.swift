package import Operations

/// An element of a state snapshot.
///
/// A snapshot is a sequence of items in the order of the cases. Items of one case are ordered by their identifiers, so
/// that equal states give equal bytes.
package enum SnapshotItem: Sendable, Hashable {
    /// The header without the service, which is an item of its own. The first item, exactly once.
    case header(StateHeader)
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
    /// The download `run` of the query contained the entity.
    case coverage(query: String, EntityID, run: SequenceNumber)
    /// A pending operation, ordered by its sequence number.
    case pending(PendingOperation)
    /// An undone operation, ordered by its own sequence number.
    case undone(UndoneOperation)
    /// An open batch, ordered by number.
    case openBatch(OpenBatch)
    /// A merge base, ordered by entity.
    case ancestor(MergeBase)
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
