public import Operations

/// The identity of a result row, which stays the same in later results.
public enum ResultIdentity: Sendable, Hashable {
    case entity(EntityID)
    /// A row that is no entity of the store, such as a group of `$apply`, is identified by its values.
    case row(EntitySnapshot)

    public init(_ snapshot: EntitySnapshot) {
        self = snapshot.entityID.map(ResultIdentity.entity) ?? .row(snapshot)
    }
}
