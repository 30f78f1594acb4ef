package import EDM
package import Operations

/// Links along a navigation property, regardless of the direction in which they are stored.
extension StateReader {
    /// Returns the links of an entity along a navigation property, in base or current state.
    package func links(of id: EntityID, along end: Navigation) throws(StateError) -> [LinkRow] {
        end.relationship.isForward
            ? try links(end.relationship.name, first: id) : try links(end.relationship.name, second: id)
    }

    /// Returns the targets of a navigation property in the current state.
    package func targets(of id: EntityID, along end: Navigation) throws(StateError) -> [EntityID] {
        try links(of: id, along: end).filter(\.inLocal).map { $0.target(along: end) }
    }
}

extension LinkRow {
    /// Returns the target of the link along a navigation property.
    package func target(along end: Navigation) -> EntityID { end.relationship.isForward ? second : first }
}
