public import ODataWire
public import Operations
public import SyncCore

/// Options of one upload. For the service's capabilities see `ServiceOptions`.
public struct UploadOptions: Sendable {
    /// The largest number of requests in a batch. Operations that have to take effect together are never split.
    public var requestLimit: Int
    /// The approximate largest size of a batch in bytes, or nil for no limit.
    ///
    /// The encoded requests are measured; the parts between them are estimated at a flat rate. Operations that have to
    /// take effect together are never split.
    public var byteLimit: Int?
    /// The categories of operations to send, or nil for all. Operations that depend on an excluded one wait with it.
    public var categories: Set<UploadCategory>?
    /// A Boolean value that indicates whether operations on the same entity are coalesced if the result is the same.
    ///
    /// A create and an update, several updates, or an update and a delete become one request. A create and a delete, or
    /// a link that is created and removed, become none.
    public var coalesces: Bool
    /// The previously rejected operations that are sent again.
    public var refused: Refused

    /// The handling of conflicts with changes of other clients. By default, changes that do not overlap are merged, and
    /// overlapping ones wait; see the store's `conflicts()`.
    public var conflicts: ConflictHandling

    /// The rejected operations that an upload sends again.
    public enum Refused: Sendable, Hashable {
        /// All rejected operations.
        case all
        /// No rejected operations.
        case none
        /// The rejected operations with these sequence numbers.
        case only(Set<SequenceNumber>)

        package func takes(_ operation: SequenceNumber) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .only(let chosen): chosen.contains(operation)
            }
        }
    }

    /// The policy for creates in doubt. It replaces the policies of the service options for the store and for single
    /// sets; nil keeps these.
    public var doubts: ServiceOptions.DoubtPolicy?

    /// The retry policy for a busy service.
    public var retry: RetryPolicy
    /// A Boolean value that indicates whether the upload starts at once despite a postponement, which the service
    /// requested or repeated failures caused. Use it for an upload that the user requests explicitly.
    public var ignoresPostponement: Bool
    /// The time to wait for the response to a batch that the service processes asynchronously. The next upload
    /// continues to poll a batch that takes longer.
    public var monitorPatience: Duration

    /// Creates options; by default all operations are sent, uncoalesced, in batches of at most 500 requests.
    public init(
        requestLimit: Int = 500, byteLimit: Int? = nil, categories: Set<UploadCategory>? = nil,
        coalesces: Bool = false, refused: Refused = .all, doubts: ServiceOptions.DoubtPolicy? = nil,
        conflicts: ConflictHandling = ConflictHandling(), retry: RetryPolicy = RetryPolicy(),
        ignoresPostponement: Bool = false, monitorPatience: Duration = .seconds(600)
    ) {
        self.requestLimit = requestLimit
        self.byteLimit = byteLimit
        self.categories = categories
        self.coalesces = coalesces
        self.refused = refused
        self.doubts = doubts
        self.conflicts = conflicts
        self.retry = retry
        self.ignoresPostponement = ignoresPostponement
        self.monitorPatience = monitorPatience
    }
}
