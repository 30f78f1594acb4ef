public import Operations

/// The identity of a result row, which stays the same in later results.
public enum ResultIdentity: Sendable, Hashable {
    /// An entity, by its ID in the store.
    case entity(EntityID)
    /// A row that is no entity of the store, such as a group of `$apply`, is identified by its values.
    case row(Row)

    /// The values of a row.
    public struct Row: Sendable, Hashable {
        package let snapshot: EntitySnapshot
    }

    package init(_ snapshot: EntitySnapshot) {
        self = snapshot.entityID.map(ResultIdentity.entity) ?? .row(Row(snapshot: snapshot))
    }
}
