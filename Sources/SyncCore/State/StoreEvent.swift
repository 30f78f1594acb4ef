package import Operations

/// A download or an upload that reached the service. An entry of the entity set `EventLog`.
package struct StoreEvent: Sendable, Hashable {
    /// The raw values are stored in snapshots.
    package enum EventKind: UInt8, Sendable, Hashable, CaseIterable {
        case download = 0
        case upload = 1
    }

    /// The first record of the event: the end of a query's download, or the response to a batch. Ascending.
    package var id: SequenceNumber
    package var kind: EventKind
    /// The time of the last record of the event.
    package var time: Timestamp
    /// The queries that a download completed, in order, if they are not all queries of the store.
    package var subset: [String]?
    /// The mark by which further records are assigned to the event: the first record of a download, or the last
    /// response of an upload.
    package var mark: SequenceNumber

    /// The maximum number of events.
    package static let limit = 100

    package init(
        id: SequenceNumber, kind: EventKind, time: Timestamp, subset: [String]? = nil, mark: SequenceNumber
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.subset = subset
        self.mark = mark
    }
}
