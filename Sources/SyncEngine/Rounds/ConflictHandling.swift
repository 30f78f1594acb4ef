public import SyncCore

/// What an upload does about entities that others have changed as well.
public struct ConflictHandling: Sendable {
    /// Decides first.
    public var policy: ConflictPolicy
    /// Decides where the policy asks. Nil, or where it returns nil, the operations wait until `resolve(_:with:)`
    /// is called. Called once for each conflict of an upload, and only while nothing is on its way to the service.
    public var decide: (@Sendable (Conflict) async -> ConflictResolution?)?

    public init(
        policy: ConflictPolicy = .merge(overlapping: .ask),
        decide: (@Sendable (Conflict) async -> ConflictResolution?)? = nil
    ) {
        self.policy = policy
        self.decide = decide
    }
}
