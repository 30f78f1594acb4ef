public import ODataWire
public import Operations
public import SyncCore

/// How one upload goes about its work. What the service can do is not here; see `ServiceOptions`.
public struct UploadOptions: Sendable {
    /// The most requests in one batch. What has to take effect together is never split.
    public var requestLimit: Int
    /// The most bytes of one batch, more or less: its requests are measured as they are encoded, what stands between them is
    /// reckoned at a flat rate. What has to take effect together is never split. Nil for no limit.
    public var byteLimit: Int?
    /// Sends operations of these categories only; nil for all. What depends on others waits with them.
    public var categories: Set<UploadCategory>?
    /// Whether operations on one entity are put together where that comes to the same: create and update, several updates,
    /// update and delete go as one request; create and delete, or a link that is made and removed, as none.
    public var coalesces: Bool
    /// Which of the operations that the service refused before are sent again.
    public var refused: Refused

    /// What is done where others changed the same entities. Without anything said, changes that do not overlap are merged, and
    /// those that do wait; see `conflicts()` of the store.
    public var conflicts: ConflictHandling

    public enum Refused: Sendable, Hashable {
        case all
        case none
        case only(Set<SequenceNumber>)

        package func takes(_ operation: SequenceNumber) -> Bool {
            switch self {
            case .all: true
            case .none: false
            case .only(let chosen): chosen.contains(operation)
            }
        }
    }

    /// How creates in doubt are settled, in the place of what the service options say for the store and for single sets; nil
    /// for these.
    public var doubts: ServiceOptions.DoubtPolicy?

    /// How it goes on where the service is busy.
    public var retry: RetryPolicy
    /// Whether it begins at once although the service has asked to be left alone, or has failed so often that it is better
    /// left alone: for a person who does not want to wait.
    public var ignoresPostponement: Bool
    /// How long it waits for the answer to a batch that the service works on in its own time. What takes longer is taken up
    /// by the next upload.
    public var monitorPatience: Duration

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
