import EDM
import ODataWire
import Operations

/// Contained entities on a page: their containers, and the ones that were removed.
extension PageBuilder {
    /// Finds the containers of the query's entities, and creates the unknown ones by their keys. Contained entities
    /// cannot exist without them.
    mutating func follow(_ path: ContainmentPath) throws(StateError) {
        guard !hasFollowedPath, let parent = path.parent else { return }
        hasFollowedPath = true
        let last = pages.count - 1
        let start = pages[last].images.count
        let firstNew = builder.nextNew
        guard let found = try builder.entities(along: parent, to: &pages[last].images) else { return }
        for index in start..<pages[last].images.count {
            pages[last].starts.append(
                PagePart.EntityStart(image: index, sizeBound: pages[last].images[index].encodedSizeBound))
        }
        for link in found.links { append(link) }
        // The containers belong to the query too, so they stay as long as it does.
        for id in found.entities where id < firstNew { name(id) }
        builder.places[path.set.name] = found.entities.last
    }

    /// Links a contained entity at the top level of a page to its container.
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

    /// Returns the entities of this query that complete collections no longer contain. Those of containment collections
    /// are gone. The query may contain the rest elsewhere.
    func missing(
        in images: ArraySlice<EntityImage>
    ) throws(StateError) -> (contained: [EntityID], others: [EntityID]) {
        var (gone, others): ([EntityID], [EntityID]) = ([], [])
        for image in images where !builder.isNew(image.entity) {
            guard let set = model.findEntitySet(image.set) else { continue }
            for links in image.links where links.isComplete {
                guard let property = model.findEntityType(image.type)?.findProperty(links.navigation),
                    let target = model.target(of: property, in: set), let end = property.navigation
                else { continue }
                let isContainment = target.containment?.navigation == property
                let shown = Set(links.targets)
                for link in try storage.links(of: image.entity, along: end) where link.inBase {
                    let id = link.target(along: end)
                    guard !shown.contains(id), try storage.bookkeeping.isCovered(id, by: query) else { continue }
                    if isContainment { gone.append(id) } else { others.append(id) }
                }
            }
        }
        return (gone, others)
    }

    /// Adds the link without counting it, because it is part of the entity.
    private mutating func append(_ link: DownloadPage.ChangedLink) {
        pages[pages.count - 1].page.links.append(link)
        pages[pages.count - 1].linked.insert(link.source)
        if let target = link.target { pages[pages.count - 1].linked.insert(target) }
    }
}
