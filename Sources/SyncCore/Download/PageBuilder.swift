package import EDM
package import ODataWire
package import Operations

/// Converts the items of a response to a defining query to log records.
///
/// A builder serves one part of a page. Its records must be folded before the next part is processed.
package struct PageBuilder {
    let storage: WorkingSet
    let model: EntityDataModel
    let query: String
    let set: EntitySet
    var builder: ImageBuilder
    /// Whether unchanged entities are only named. If not, all entities are logged.
    private let compares: Bool
    private let comparison: LocalComparison
    var pages: [PagePart] = [PagePart()]
    var waiting: DanglingLinks
    /// The link changes of this part.
    var reported: [ReportedLink] = []
    /// Entities that left a collection and possibly the query; see ``ExpandedEntities``.
    package internal(set) var unlinked: Set<EntityID> = []
    /// The number of entities by their effect on the store.
    package private(set) var tally = DownloadCounts()
    var unidentified: Set<String> = []
    /// Entities that were removed but cannot be identified.
    package internal(set) var unidentifiedRemovals: [String] = []
    /// Stored entities that were logged in this part. The comparison with the store was made before that.
    private var logged: Set<EntityID> = []
    /// The largest number of unchanged entities in a record.
    private let namedLimit: Int
    /// The containment path of the query's entities, or nil if they are in a set of the entity container.
    private let path: ContainmentPath?
    /// Whether the entities along ``path`` have been looked up.
    var hasFollowedPath = false
    /// The largest size of an entity with its expanded entities, in bytes. They have to be in one record.
    let entityLimit: Int
    /// Entities that appeared several times on the page, as the service names them.
    package private(set) var repeated: [String] = []
    private var shown = EntityIDSet()

    /// Creates a builder for one part of a page.
    ///
    /// - Parameters:
    ///   - index: The relationships of `model`.
    ///   - compares: Whether unchanged entities are only named in the record.
    ///   - waiting: Links with an unknown end from earlier parts of the download, or from earlier downloads.
    ///   - namedLimit: The largest number of unchanged entities in a record.
    ///   - entityLimit: The largest size of an entity with its expanded entities, in bytes.
    ///   - path: The path of the query.
    ///   - asked: The expansions of the query.
    ///   - isDelta: Whether entities may lack requested expansions.
    package init(
        storage: WorkingSet, model: EntityDataModel, index: RelationshipIndex, query: String, set: EntitySet,
        compares: Bool, waiting: DanglingLinks = DanglingLinks(), namedLimit: Int = DownloadPage.unchangedLimit,
        entityLimit: Int = 15 << 20, path: ContainmentPath? = nil, asked: RequestedExpansions? = nil,
        isDelta: Bool = false
    ) throws(StateError) {
        self.path = path?.set.isContained == true ? path : nil
        self.storage = storage
        self.namedLimit = namedLimit
        self.entityLimit = entityLimit
        self.model = model
        self.query = query
        self.set = set
        self.waiting = waiting
        builder = try ImageBuilder(storage: storage, model: model)
        builder.asked = asked
        builder.tellsAll = !isDelta
        self.compares = compares
        comparison = LocalComparison(storage: storage, model: model, index: index)
        readDanglingLinks()
        unidentified.formUnion(asked?.ofComplexValues(in: set, model) ?? [])
    }

    /// Entities that could not be applied.
    package var quarantined: [QuarantinedEntity] {
        builder.quarantined.map {
            var entity = $0
            entity.query = query
            return entity
        }
    }

    /// Expanded navigation properties that lead to no entity set, and sets that are not in the model.
    package var skipped: Set<String> { builder.skipped.union(unidentified) }

    /// Expanded navigation properties that the page omits. The store keeps its links for these.
    package var omittedExpansions: Set<String> { builder.omittedExpansions }

    /// The stream metadata of the items. They are stored after the pages were folded.
    package var streams: [StreamImage] { builder.streams }

    /// Adds items. If the download is compared with the store, their entities are looked up together.
    package mutating func add(_ items: [DeltaItem]) throws(StateError) {
        if let path, !items.isEmpty { try follow(path) }
        if compares { try builder.lookup.prefetch(items, in: set) }
        pages[0].images.reserveCapacity(items.count)
        builder.assigned.reserveCapacity(items.count, for: set.name)
        // A span, because a subscript of an array copies the item. Of a slice, because that of an array needs macOS 26.
        let slice = items[...]
        let items = slice.span
        for index in items.indices { try add(items[index], builder.lookup.key(ofItemAt: index)) }
    }

    private mutating func add(_ item: DeltaItem, _ key: EntityLookup.Key?) throws(StateError) {
        switch item {
        case .entity(let payload):
            // An item with its own set is not a direct result of the query.
            let asked = payload.set == nil ? builder.asked?.branches ?? [] : []
            let place = entitySet(payload.set)
            guard let set = place, let id = try add(payload, set, key, expanding: asked) else { return }
            try removeFormerOwners(of: payload, besides: id, in: set)
            if !shown.contains(id) {
                shown.insert(id)
            } else if let name = try builder.identity(of: payload, in: set).name {
                repeated.append(name)
            }
        case .removed(let removed):
            guard let set = entitySet(of: removed.entity), let id = try find(removed, in: set) else { return }
            // Without a reason, the entity may still exist for other queries.
            try remove(id, isDeleted: removed.reason == .deleted)
        case .link(let link): addLinkChange(link)
        case .unreadable(let found):
            guard let set = entitySet(found.entity.set) else { return }
            try addToQuarantine(found, set, expanding: found.entity.set == nil ? builder.asked?.branches ?? [] : [])
        }
    }

    /// Keeps a stored entity in the query without any new content.
    mutating func retain(_ id: EntityID) {
        guard !builder.isNew(id) else { return }
        // An entity that was removed in this part has returned.
        if pages[pages.count - 1].gone.contains(id) { pages.append(PagePart()) }
        name(id)
    }

    /// Returns the records in order, and the links that still have an unknown end.
    ///
    /// - Parameters:
    ///   - next: The link to the next page, if this was the last part of its page.
    ///   - byteLimit: The record size after which another record begins.
    package mutating func finish(
        next: String?, byteLimit: Int = 4 << 20
    ) throws(StateError) -> (pages: [DownloadPage], waiting: DanglingLinks) {
        try addLinks()
        var result: [DownloadPage] = []
        for part in pages {
            var rest = part.images[...]
            for end in part.ends(byteLimit) {
                result.append(DownloadPage(query: query, entities: Array(rest[..<end])))
                rest = rest[end...]
            }
            var page = part.page
            page.query = query
            page.entities = rest.count == part.images.count ? part.images : Array(rest)
            result.append(page)
        }
        // The waiting links would be lost if the next download continued after this page.
        if !waiting.hasUnkept { result[result.count - 1].next = next }
        return (result, waiting)
    }

    // MARK: Entities

    mutating func entitySet(_ name: String?) -> EntitySet? {
        guard let name else { return set }
        if let found = model.findEntitySet(name), found.isContained == name.contains("/") { return found }
        if let place = try? builder.place(named: name) { return place }
        unidentified.insert(name)
        return nil
    }

    /// Adds an entity. Returns its ID, or nil if it has no key.
    ///
    /// - Parameters:
    ///   - key: The key of an item, if it was looked up.
    ///   - parent: The parent of the entity in the payload, if there is one.
    ///   - branches: The requested expansions below it.
    private mutating func add(
        _ payload: EntityPayload, _ set: EntitySet, _ key: EntityLookup.Key? = nil, below parent: EntityID? = nil,
        expanding branches: [RequestedExpansions.Branch] = []
    ) throws(StateError) -> EntityID? {
        let last = pages.count - 1
        let start = pages[last].images.count
        let firstNew = builder.nextNew
        let streams = builder.streams.count
        guard
            let id = try builder.add(
                payload, in: set, itemKey: key, below: parent, expanding: branches, to: &pages[last].images)
        else { return nil }
        let (size, hasLinks) = pages[last].extent(from: start)
        guard size <= entityLimit || isSmall(pages[last].images[start...]) else {
            pages[last].images.removeSubrange(start...)
            builder.streams.removeSubrange(streams...)
            try addToQuarantine(tooLarge: payload, set, below: parent, expanding: branches)
            return nil
        }
        let missing = try hasLinks ? missing(in: pages[last].images[start...]) : (contained: [], others: [])
        if builder.deltaBranches != nil {
            unlinked.formUnion(try builder.lookup.principals(unlinkedBy: pages[last].images[start...]))
        }
        beginPart(at: start, size)
        try judge(firstNew)
        for gone in missing.contained { try remove(gone, isDeleted: false) }
        unlinked.formUnion(missing.others)
        if set.isContained, parent == nil { try link(id, in: set, payload) }
        keepAll()
        for change in payload.changes { try add(change, of: id, set) }
        return id
    }

    /// Returns whether the images fit into a record, according to their encoded size.
    private func isSmall(_ images: ArraySlice<EntityImage>) -> Bool {
        let page = DownloadPage(query: query, entities: Array(images))
        return RecordCodec.encode(Record(time: 0, body: .downloadPage(page))).payload.count <= entityLimit
    }

    /// Compares the images of the last entity with the store. If none of them is new, the entities are only named.
    ///
    /// - Parameter firstNew: The first entity ID that was created for it.
    private mutating func judge(_ firstNew: EntityID) throws(StateError) {
        let last = pages.count - 1
        let start = pages[last].starts.last?.image ?? 0
        var isNews = false
        for index in start..<pages[last].images.count {
            let id = pages[last].images[index].entity
            let isNaming = index + 1 < pages[last].images.count && pages[last].images[index + 1].entity == id
            // A new entity of this part was logged with its first occurrence.
            let finding: LocalComparisonResult
            if builder.isNew(id) {
                finding = id >= firstNew ? .inserted : .changed
            } else if logged.contains(id) {
                finding = .changed
            } else {
                finding = try self.finding(ofImage: index, isNaming: isNaming)
            }
            if finding != .unchanged { isNews = true }
            if !isNaming { tally.count(finding) }
        }
        if isNews {
            for index in start..<pages[last].images.count where !builder.isNew(pages[last].images[index].entity) {
                logged.insert(pages[last].images[index].entity)
            }
        } else {
            for index in start..<pages[last].images.count { name(pages[last].images[index].entity) }
            pages[last].images.removeLast(pages[last].images.count - start)
            pages[last].starts.removeLast()
        }
    }

    private func finding(ofImage index: Int, isNaming: Bool) throws(StateError) -> LocalComparisonResult {
        let slice = pages[pages.count - 1].images[index...]
        if compares { return try builder.lookup.finding(slice.span[0], isNaming: isNaming, by: comparison) }
        return try builder.lookup.serviceRow(slice.span[0].entity) == nil ? .inserted : .changed
    }

    /// Adds the changes of a collection or of a to-one property (OData 4.01 JSON, 15.3).
    private mutating func add(
        _ change: NavigationDelta, of source: EntityID, _ set: EntitySet
    ) throws(StateError) {
        guard let property = try declared(change.navigation, source, in: set),
            let target = model.target(of: property, in: set, from: try type(of: source))
        else {
            unidentified.insert("\(set.name)/\(change.navigation)")
            return
        }
        let parent = target.isContained(by: property) ? source : nil
        let isCertain = model.isCertainTarget(of: property, in: set, from: try type(of: source))
        for item in change.items {
            switch item {
            case .entity(let payload):
                guard builder.isInside(payload, target, property, isCertain: isCertain) else {
                    unidentified.insert("\(set.name)/\(change.navigation)")
                    continue
                }
                guard let id = try add(payload, target, below: parent) else { continue }
                try add(.init(source: source, navigation: property.name, target: id, isAdded: true))
            case .removed(let removed):
                guard let id = try find(removed, in: target, below: parent) else { continue }
                // An entity that leaves its container no longer exists, whatever the reason.
                if removed.reason == .deleted || parent != nil {
                    try remove(id, isDeleted: true)
                } else {
                    unlinked.insert(id)
                    try add(.init(source: source, navigation: property.name, target: id, isAdded: false))
                }
            case .unreadable(let found): try addToQuarantine(found, target, below: parent)
            case .link: break
            }
        }
    }

    /// Returns a property of the set's type, or of the entity's own type, which may be derived from it.
    func declared(_ navigation: String, _ id: EntityID, in set: EntitySet) throws(StateError) -> Property? {
        if let property = set.entityType.findProperty(navigation) { return property }
        return try type(of: id)?.findProperty(navigation)
    }

    /// Returns the entity's own type according to the page or the state, or nil if neither has it.
    func type(of id: EntityID) throws(StateError) -> EntityType? {
        let row = try storage.serviceRow(id)
        let image = pages.last.flatMap { page in
            page.images[(page.starts.last?.image ?? 0)...].first { $0.entity == id }
        }
        return (image?.type ?? row?.type).flatMap(model.findEntityType)
    }

    mutating func remove(_ id: EntityID, isDeleted: Bool) throws(StateError) {
        try unlinkPartners(of: id)
        // An earlier link of the entity must not be applied after the removal.
        if pages[pages.count - 1].linked.contains(id) { pages.append(PagePart()) }
        if isDeleted {
            pages[pages.count - 1].page.removed.append(id)
        } else {
            pages[pages.count - 1].page.left.append(id)
        }
        pages[pages.count - 1].gone.insert(id)
        tally.removed += 1
    }

    /// Marks the entity as unchanged. The expansions of one entity may exceed the limit of a record.
    mutating func name(_ id: EntityID) {
        guard pages[pages.count - 1].page.unchanged.last != id else { return }
        if pages[pages.count - 1].page.unchanged.count >= namedLimit { pages.append(PagePart()) }
        pages[pages.count - 1].page.unchanged.append(id)
    }

    /// Begins a new part if the last entity was removed or linked before, because a record has a fixed order.
    ///
    /// - Parameters:
    ///   - start: The index of the last entity's first image.
    ///   - size: An upper bound of the encoded size of its images.
    private mutating func beginPart(at start: Int, _ size: Int) {
        let last = pages.count - 1
        let isAgain =
            (!pages[last].gone.isEmpty || !pages[last].linked.isEmpty)
            && pages[last].images[start...].contains {
                pages[last].gone.contains($0.entity) || pages[last].linked.contains($0.entity)
            }
        guard isAgain else { return pages[last].starts.append(PagePart.EntityStart(image: start, sizeBound: size)) }
        var part = PagePart()
        part.images = Array(pages[last].images[start...])
        part.starts = [PagePart.EntityStart(image: 0, sizeBound: size)]
        pages[last].images.removeSubrange(start...)
        pages.append(part)
    }

    // MARK: Links

    mutating func add(_ link: DownloadPage.ChangedLink) throws(StateError) {
        try unlinkEnds(of: link)
        pages[pages.count - 1].page.links.append(link)
        pages[pages.count - 1].linked.insert(link.source)
        if let target = link.target { pages[pages.count - 1].linked.insert(target) }
        tally.links += 1
    }
}

/// The number of downloaded entities by their effect on the store.
public struct DownloadCounts: Sendable, Hashable {
    /// The number of entities that are new in the store.
    public var inserted = 0
    /// The number of entities with a changed value or link.
    public var changed = 0
    /// The number of unchanged entities, including repetitions.
    public var unchanged = 0
    /// The number of entities that the service reported as removed, or that a full download no longer contained.
    public var removed = 0
    /// The number of link changes in deltas.
    public var links = 0

    /// Creates counts of zero.
    public init() {}

    /// The number of all entities in the pages.
    public var entities: Int { inserted + changed + unchanged }

    mutating func count(_ finding: LocalComparisonResult) {
        switch finding {
        case .inserted: inserted += 1
        case .changed: changed += 1
        case .unchanged: unchanged += 1
        }
    }

    package static func += (a: inout DownloadCounts, b: DownloadCounts) {
        a.inserted += b.inserted
        a.changed += b.changed
        a.unchanged += b.unchanged
        a.removed += b.removed
        a.links += b.links
    }
}
