/// How one upload goes about its work. What the service can do is not here; see `ServiceOptions`.
public struct UploadOptions: Sendable {
    /// The most requests in one batch. What has to take effect together is never split.
    public var requestLimit: Int
    /// What is done where others changed the same entities.
    public var conflicts: ConflictHandling

    public init(requestLimit: Int = 500, conflicts: ConflictHandling = ConflictHandling()) {
        self.requestLimit = requestLimit
        self.conflicts = conflicts
    }
}
