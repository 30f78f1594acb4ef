public import SyncCore

/// How one upload goes about its work. What the service can do is not here; see `ServiceOptions`.
public struct UploadOptions: Sendable {
    /// The most requests in one batch. What has to take effect together is never split.
    public var requestLimit: Int
    /// What is done where others changed the same entities. Without anything said, changes that do not overlap are merged, and
    /// those that do wait; see ``LocalStore/conflicts()``.
    public var conflicts: ConflictHandling
    /// How it goes on where the service is busy.
    public var retry: RetryPolicy
    /// Whether it begins at once although the service has asked to be left alone, or has failed so often that it is better
    /// left alone: for a person who does not want to wait.
    public var ignoresPostponement: Bool
    /// How long it waits for the answer to a batch that the service works on in its own time. What takes longer is taken up
    /// by the next upload.
    public var monitorPatience: Duration

    public init(
        requestLimit: Int = 500, conflicts: ConflictHandling = ConflictHandling(), retry: RetryPolicy = RetryPolicy(),
        ignoresPostponement: Bool = false, monitorPatience: Duration = .seconds(600)
    ) {
        self.requestLimit = requestLimit
        self.conflicts = conflicts
        self.retry = retry
        self.ignoresPostponement = ignoresPostponement
        self.monitorPatience = monitorPatience
    }
}
