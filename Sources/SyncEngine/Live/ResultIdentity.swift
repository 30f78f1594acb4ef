public import Operations

/// What tells one row of a result from another, and is the same when the row comes again.
public enum ResultIdentity: Sendable, Hashable {
    case entity(EntityID)
    /// A row that is no entity of the store is what it says, for example the groups of `$apply`.
    case row(EntitySnapshot)

    public init(_ snapshot: EntitySnapshot) {
        self = snapshot.entityID.map(ResultIdentity.entity) ?? .row(snapshot)
    }
}
