public import EDM
public import Operations

/// Links as a navigation property walks them, whichever way round they are kept.
extension StateReader {
    /// The links of an entity along a navigation property, in base or local state.
    public func links(of id: EntityID, along end: Navigation) throws(StateError) -> [LinkRow] {
        end.relationship.isForward
            ? try links(end.relationship.name, first: id) : try links(end.relationship.name, second: id)
    }

    /// The entities that a navigation property leads to in the local state.
    public func targets(of id: EntityID, along end: Navigation) throws(StateError) -> [EntityID] {
        try links(of: id, along: end).filter(\.inLocal).map { $0.target(along: end) }
    }
}

extension LinkRow {
    /// Where the link leads when it is walked along a navigation property.
    public func target(along end: Navigation) -> EntityID { end.relationship.isForward ? second : first }
}
