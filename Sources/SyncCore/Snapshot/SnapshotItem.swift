public import Operations

/// One element of a state's snapshot. A snapshot is a row of them in the order of the cases, those of one case in the order
/// of their identifiers, so that equal states give equal bytes.
public enum SnapshotItem: Sendable, Hashable {
    /// The counters. First, once; its service is in an item of its own.
    case header(applied: SequenceNumber, nextEntity: EntityID, nextBatch: BatchID)
    /// At most once: the metadata may be megabytes.
    case service(ServiceDescription)
    /// In the order in which the queries were added.
    case query(QueryState)
    /// An entity that ever entered the log, deleted ones included.
    case entity(EntityID, set: String)
    /// A key that the service ever gave. An entity may have several.
    case key(String, set: String, of: EntityID)
    /// By set, then by entity.
    case row(EntityRow)
    case base(EntityID, BaseState)
    case link(LinkRow)
    /// Those without a transactionID, then those with one. Those with later attributes stand behind ``undone(_:)``, and
    /// behind these the undone ones with such attributes.
    case pending(PendingOperation)
    /// The query brought the entity in the download `run`.
    case coverage(query: String, EntityID, run: SequenceNumber)
    /// By the undone operation's own sequence number.
    case undone(UndoneOperation)
    /// At most once.
    case postponed(Postponement)
    /// By number.
    case openBatch(OpenBatch)
    /// By entity.
    case ancestor(Ancestor)
    /// When an operation came into its status, where that was not when it was made. By sequence number, first those that
    /// are pending, then those that are undone.
    case since(Timestamp, SequenceNumber)
    /// Behind the first download, once: the record with which the last one began.
    case lastDownload(SequenceNumber)
    /// By entity; those of one entity as the state has them.
    case streams(EntityID, [StreamImage])
    /// At most once, in the order in which they came.
    case events([StoreEvent])
    /// At most once, in the order in which they were told.
    case openLinks([OpenLink])
    /// At most once, in the order in which they came.
    case quarantine([QuarantineEntry])
    /// Last, once: how many items are in front of it, and what their state's digest is.
    case end(items: UInt64, digest: StateDigest)
}
