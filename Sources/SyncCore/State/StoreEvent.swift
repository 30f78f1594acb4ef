public import Operations

/// A download or an upload that reached the service. An entry of the entity set `EventLog`.
public struct StoreEvent: Sendable, Hashable {
    /// The raw values are stored in snapshots.
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case download = 0
        case upload = 1
    }

    /// The first record of the event: the end of a query's download, or the response to a batch. Ascending.
    public var id: SequenceNumber
    public var kind: Kind
    /// The time of the last record of the event.
    public var time: Timestamp
    /// The queries that a download completed, in order, if they are not all queries of the store.
    public var subset: [String]?
    /// The mark by which further records are assigned to the event: the first record of a download, or the last
    /// response of an upload.
    public var mark: SequenceNumber

    /// The maximum number of events.
    public static let limit = 100

    public init(
        id: SequenceNumber, kind: Kind, time: Timestamp, subset: [String]? = nil, mark: SequenceNumber
    ) {
        self.id = id
        self.kind = kind
        self.time = time
        self.subset = subset
        self.mark = mark
    }
}
