import EDM
import ODataWire
import Operations

/// The links that the dependent properties of an entity would restore.
extension ImageBuilder {
    /// Returns the dependent properties that are null because the entity no longer has the target of a link.
    ///
    /// If the payload contains them, they determine the link. If it does not, because the query omits them, the store
    /// has copied them from the former target, and they would restore the link.
    func dependents(
        endedBy links: EntityImage.ImageLinks, of id: EntityID, _ type: EntityType, _ payload: EntityPayload
    ) throws(StateError) -> [String] {
        guard links.isComplete, links.targets.isEmpty, !isNew(id),
            let end = type.findProperty(links.navigation)?.navigation, !end.constraints.isEmpty,
            end.constraints.allSatisfy({ payload.values[$0.dependent] == nil }),
            try storage.links(of: id, along: end).contains(where: \.inBase)
        else { return [] }
        let others = type.navigationProperties.filter { $0.name != links.navigation }
        let shared = others.flatMap { $0.navigation?.constraints.map(\.dependent) ?? [] }
        return end.constraints.map(\.dependent).filter { name in
            !shared.contains(name) && type.findProperty(name)?.isNullable == true
                && !type.keyProperties.contains { $0.name == name }
        }
    }
}
