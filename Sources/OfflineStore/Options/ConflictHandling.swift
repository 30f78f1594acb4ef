public import SyncCore

/// The way in which an upload handles conflicts with changes of other clients.
public struct ConflictHandling: Sendable {
    /// The policy that is applied first.
    public var policy: ConflictPolicy
    /// A function that decides the conflicts for which the policy asks.
    ///
    /// If it is nil, or returns nil, the operations wait until `resolve(_:with:)` is called. The upload calls it once
    /// for each conflict, and only while no request is in flight.
    public var decide: (@Sendable (Conflict) async -> ConflictResolution?)?

    /// Creates a handling; by default changes are merged, and overlapping ones wait for a decision.
    public init(
        policy: ConflictPolicy = .merge(overlapping: .ask),
        decide: (@Sendable (Conflict) async -> ConflictResolution?)? = nil
    ) {
        self.policy = policy
        self.decide = decide
    }
}
