import EDM
import ODataWire
import Operations

/// The links that the dependent properties of an entity would restore, and those that end with a link change.
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
        return type.dependents(onlyOf: end, links.navigation)
    }

    /// Returns the entities that lose a link by a link change: its ends, and the ends of links that it replaces.
    func ends(
        unlinkedBy change: DownloadPage.ChangedLink, along end: Navigation
    ) throws(StateError) -> Set<EntityID> {
        var unlinked: Set<EntityID> = []
        if !change.isAdded, let target = change.target { unlinked = [change.source, target] }
        var replaced: [LinkRow] = []
        if change.target == nil || change.isAdded && end.multiplicity != .many {
            replaced += try storage.links(of: change.source, along: end)
        }
        if let target = change.target, change.isAdded && end.sourceMultiplicity != .many {
            let name = end.relationship.name
            replaced +=
                try end.relationship.isForward
                ? storage.links(name, second: target) : storage.links(name, first: target)
        }
        for link in replaced where link.inBase { unlinked.formUnion([link.first, link.second]) }
        return unlinked
    }
}

extension EntityType {
    /// Returns the dependent properties of a navigation property that may be null and do not determine another link.
    fileprivate func dependents(onlyOf end: Navigation, _ navigation: String) -> [String] {
        let others = navigationProperties.filter { $0.name != navigation }
        let shared = others.flatMap { $0.navigation?.constraints.map(\.dependent) ?? [] }
        return end.constraints.map(\.dependent).filter { name in
            !shared.contains(name) && findProperty(name)?.isNullable == true
                && !keyProperties.contains { $0.name == name }
        }
    }
}
