import EDM
import ODataWire
import Operations

/// Contained entities on a page: who contains them, and which of them are gone.
extension PageBuilder {
    /// Finds the entities that contain those of the query, and takes those that are not in the store by their keys: what they
    /// contain is nowhere without them.
    mutating func follow(_ path: ContainmentPath) throws(StateError) {
        guard !hasFollowedPath, let parent = path.parent else { return }
        hasFollowedPath = true
        let last = pages.count - 1
        let start = pages[last].images.count
        let firstNew = builder.nextNew
        guard let found = try builder.entities(along: parent, to: &pages[last].images) else { return }
        for index in start..<pages[last].images.count { pages[last].starts.append(index) }
        for link in found.links { append(link) }
        // The query brings them too, so that they stay as long as it does.
        for id in found.entities where id < firstNew { name(id) }
        builder.places[path.set.name] = found.entities.last
    }

    /// Links a contained entity that came by itself to the one that contains it.
    mutating func link(_ id: EntityID, in set: EntitySet, _ payload: EntityPayload) throws(StateError) {
        let known = builder.isNew(id) ? nil : id
        guard let containment = set.containment, let end = containment.navigation.navigation,
            let parent = try builder.container(of: payload, in: set, known: nil, below: nil)
        else { return }
        if known != nil {
            let (first, second) = end.relationship.isForward ? (parent, id) : (id, parent)
            if try storage.link(end.relationship.name, first: first, second: second)?.inBase == true { return }
        }
        append(.init(source: parent, navigation: containment.navigation.name, target: id, isAdded: true))
    }

    /// Entities that this query brought, and that the whole of what their parent contains does not show any more.
    func contained(in images: ArraySlice<EntityImage>) throws(StateError) -> [EntityID] {
        var gone: [EntityID] = []
        for image in images where !builder.isNew(image.entity) {
            guard let set = model.findEntitySet(image.set) else { continue }
            for links in image.links where links.isComplete {
                guard let property = model.findEntityType(image.type)?.findProperty(links.navigation),
                    let target = model.target(of: property, in: set), target.containment?.navigation == property,
                    let end = property.navigation
                else { continue }
                let shown = Set(links.targets)
                for link in try storage.links(of: image.entity, along: end) where link.inBase {
                    let id = link.target(along: end)
                    if !shown.contains(id), try storage.isCovered(id, by: query) { gone.append(id) }
                }
            }
        }
        return gone
    }

    /// Adds the link without counting it: it is part of the entity.
    private mutating func append(_ link: DownloadPage.ChangedLink) {
        pages[pages.count - 1].page.links.append(link)
        pages[pages.count - 1].linked.insert(link.source)
        if let target = link.target { pages[pages.count - 1].linked.insert(target) }
    }
}
