public import Operations

/// A download or an upload that got through to the service: what the entity set `EventLog` shows.
public struct StoreEvent: Sendable, Hashable {
    /// The numbers stand in snapshots.
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
        case download = 0
        case upload = 1
    }

    /// The record with which it first got somewhere: the end of a query's download, or the answer to a batch. Ascending.
    public var id: SequenceNumber
    public var kind: Kind
    /// When it last got somewhere.
    public var time: Timestamp
    /// The queries that a download brought to their end, in order, where these were not all that the store had.
    public var subset: [String]?
    /// What belongs to the same event: of a download the record with which it began, of an upload the last answer.
    public var mark: SequenceNumber

    /// How many are kept.
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
