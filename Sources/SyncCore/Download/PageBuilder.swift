public import EDM
public import ODataWire
public import Operations

/// Makes of what a defining query's answer holds, item by item, the records that the log takes of it.
///
/// For one part of a page: what it builds must be folded before the next part is looked at.
public struct PageBuilder<Storage: StateReader> {
    let storage: Storage
    let model: EntityDataModel
    let query: String
    private let set: EntitySet
    var builder: ImageBuilder<Storage>
    /// Nil where everything is logged as it comes.
    private let comparison: LocalComparison<Storage>?
    var pages: [Part] = [Part()]
    var waiting: WaitingLinks
    /// What this part tells of links.
    var told: [ToldLink] = []
    /// Entities that left a collection and may have left the query with it; see ``ExpandedEntities``.
    public private(set) var unlinked: Set<EntityID> = []
    /// What the items come to.
    public private(set) var tally = DownloadTally()
    var unidentified: Set<String> = []
    /// What the store knew and was shown in this part with something new: what it is to the store was said before that.
    private var logged: Set<EntityID> = []
    /// How many entities a record may name as they were.
    private let namedLimit: Int
    /// Where the query's entities are contained, as its path says it; nil where they are in a set of the container.
    private let path: ContainmentPath?
    /// Whether the entities along ``path`` have been looked for.
    var hasFollowedPath = false
    /// The most bytes that an entity may have with what is expanded below it: they belong into one record.
    let entityLimit: Int
    /// Entities of the page that came several times, as the service names them.
    public private(set) var repeated: [String] = []
    private var shown: Set<EntityID> = []

    /// What becomes one record, or several where it is too long.
    struct Part {
        var images: [EntityImage] = []
        /// Where each entity begins: with what came expanded below it, it belongs into one record, since its links need both
        /// ends.
        var starts: [Int] = []
        var page = DownloadPage(query: "")
        /// What the members that are applied last are about.
        var gone: Set<EntityID> = []
        var linked: Set<EntityID> = []

        /// Where records end that are about as long as they may be, but for the last one.
        func ends(_ byteLimit: Int) -> [Int] {
            var ends: [Int] = []
            var size = 0
            for (index, start) in starts.enumerated() {
                let end = index + 1 < starts.count ? starts[index + 1] : images.count
                // A bound, since to encode a page only to know its length would be half of what it takes to log it.
                let bound = images[start..<end].reduce(0) { $0 + $1.encodedSizeBound }
                if size > 0, size + bound > byteLimit {
                    ends.append(start)
                    size = 0
                }
                size += bound
            }
            return ends
        }
    }

    /// - Parameters:
    ///   - index: the relationships of `model`.
    ///   - compares: whether what is as it was is only named.
    ///   - waiting: links of which an end was not known yet in earlier parts of the download, or in earlier downloads.
    ///   - namedLimit: how many entities a record may name as they were.
    ///   - entityLimit: the most bytes that an entity may have with what is expanded below it.
    ///   - path: the query's path.
    ///   - asked: what the query expands.
    ///   - isDelta: whether an entity may be told without what is expanded below it.
    public init(
        storage: Storage, model: EntityDataModel, index: RelationshipIndex, query: String, set: EntitySet,
        compares: Bool, waiting: WaitingLinks = WaitingLinks(), namedLimit: Int = DownloadPage.unchangedLimit,
        entityLimit: Int = 15 << 20, path: ContainmentPath? = nil, asked: AskedExpansions? = nil,
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
        comparison = compares ? LocalComparison(storage: storage, model: model, index: index) : nil
        readWaiting()
    }

    /// What could not be taken.
    public var quarantined: [QuarantinedEntity] {
        builder.quarantined.map {
            var entity = $0
            entity.query = query
            return entity
        }
    }

    /// Expanded navigation properties that lead to no entity set (containment), and sets that the model does not have.
    public var skipped: Set<String> { builder.skipped.union(unidentified) }

    /// Expanded navigation properties that the page is silent about; what the store has of them stays.
    public var untold: Set<String> { builder.untold }

    /// What the items say of streams; to be kept once the pages are folded.
    public var streams: [StreamImage] { builder.streams }

    /// Takes what the items say. Those of a download that is compared are looked up together.
    public mutating func add(_ items: [DeltaItem]) throws(StateError) {
        if let path, !items.isEmpty { try follow(path) }
        if comparison != nil { try builder.learn(items, in: set) }
        pages[0].images.reserveCapacity(items.count)
        for item in items { try add(item) }
    }

    private mutating func add(_ item: DeltaItem) throws(StateError) {
        switch item {
        case .entity(let payload):
            // An item with a set of its own is not what the query leads to.
            let asked = payload.set == nil ? builder.asked?.branches ?? [] : []
            guard let set = entitySet(payload.set), let id = try add(payload, set, expanding: asked) else { return }
            if !shown.insert(id).inserted, let name = try builder.identity(of: payload, in: set).name {
                repeated.append(name)
            }
        case .removed(let removed):
            guard let set = entitySet(removed.entity.set) else { return }
            if removed.reason == .deleted { forgetLinks(of: removed.entity, in: set) }
            guard let id = try builder.find(removed.entity, in: set) else { return }
            // Without a reason it may as well be there still, for other queries.
            try remove(id, isDeleted: removed.reason == .deleted)
        case .link(let link): hear(link)
        case .unreadable(let found):
            guard let set = entitySet(found.entity.set) else { return }
            try setAside(found, set, expanding: found.entity.set == nil ? builder.asked?.branches ?? [] : [])
        }
    }

    /// The query brings the entity, and nothing is said of it that the store could take.
    mutating func keep(_ id: EntityID) {
        guard !builder.isNew(id) else { return }
        // What was removed in this part comes again.
        if pages[pages.count - 1].gone.contains(id) { pages.append(Part()) }
        name(id)
    }

    /// The records, in order, and the links of which an end is still not known.
    ///
    /// - Parameters:
    ///   - next: where the page behind this one is, where this was the last part of its page.
    ///   - byteLimit: how large a record may become before another one takes what follows.
    public mutating func finish(
        next: String?, byteLimit: Int = 4 << 20
    ) throws(StateError) -> (pages: [DownloadPage], waiting: WaitingLinks) {
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
        // What waits for its other end would be lost if the next download went on behind this page.
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

    /// The entity's ID; nil where it has no key.
    ///
    /// - Parameters:
    ///   - parent: the entity that contains it, where it came below that one.
    ///   - branches: what the query expands below it.
    private mutating func add(
        _ payload: EntityPayload, _ set: EntitySet, below parent: EntityID? = nil,
        expanding branches: [AskedExpansions.Branch] = []
    ) throws(StateError) -> EntityID? {
        let last = pages.count - 1
        let start = pages[last].images.count
        let firstNew = builder.nextNew
        let streams = builder.streams.count
        guard
            let id = try builder.add(
                payload, in: set, below: parent, expanding: branches, to: &pages[last].images)
        else { return nil }
        let size = pages[last].images[start...].reduce(0) { $0 + $1.encodedSizeBound }
        guard size <= entityLimit || isSmall(pages[last].images[start...]) else {
            pages[last].images.removeSubrange(start...)
            builder.streams.removeSubrange(streams...)
            try setAside(tooLarge: payload, set, below: parent, expanding: branches)
            return nil
        }
        let contained = try contained(in: pages[last].images[start...])
        beginPart(at: start)
        try judge(firstNew)
        for gone in contained { try remove(gone, isDeleted: false) }
        if set.isContained, parent == nil { try link(id, in: set, payload) }
        keepAll()
        for change in payload.changes { try add(change, of: id, set) }
        return id
    }

    /// Whether they fit a record, by their bytes and not by a bound.
    private func isSmall(_ images: ArraySlice<EntityImage>) -> Bool {
        let page = DownloadPage(query: query, entities: Array(images))
        return RecordCodec.encode(Record(time: 0, body: .downloadPage(page))).payload.count <= entityLimit
    }

    /// Finds out what the images of the last entity are to the store. Where they are nothing new, they are named instead.
    ///
    /// - Parameter firstNew: entities from there on came into being with it.
    private mutating func judge(_ firstNew: EntityID) throws(StateError) {
        let last = pages.count - 1
        let start = pages[last].starts.last ?? 0
        var isNews = comparison == nil
        for index in start..<pages[last].images.count {
            let image = pages[last].images[index]
            let isNaming =
                index + 1 < pages[last].images.count && pages[last].images[index + 1].entity == image.entity
            let finding = try finding(image, isNaming: isNaming, firstNew)
            if finding != .unchanged { isNews = true }
            if !isNaming { tally.count(finding) }
        }
        if isNews {
            for image in pages[last].images[start...] where !builder.isNew(image.entity) {
                logged.insert(image.entity)
            }
        } else {
            let ids = pages[last].images[start...].map(\.entity)
            pages[last].images.removeSubrange(start...)
            pages[last].starts.removeLast()
            for id in ids { name(id) }
        }
    }

    private func finding(
        _ image: EntityImage, isNaming: Bool, _ firstNew: EntityID
    ) throws(StateError) -> LocalFinding {
        // What this part brought into being was logged with what it came with.
        if builder.isNew(image.entity) { return image.entity >= firstNew ? .inserted : .changed }
        if logged.contains(image.entity) { return .changed }
        let known = try builder.serviceRow(image.entity)
        if let comparison { return try comparison.finding(image, isNaming: isNaming, known) }
        return known == nil ? .inserted : .changed
    }

    /// The changes of a collection, or of what a single-valued property leads to (OData 4.01 JSON, 15.3).
    private mutating func add(
        _ change: NavigationDelta, of source: EntityID, _ set: EntitySet
    ) throws(StateError) {
        guard let property = set.entityType.findProperty(change.navigation) ?? declared(change.navigation, source),
            let target = model.target(of: property, in: set, from: type(of: source))
        else {
            unidentified.insert("\(set.name)/\(change.navigation)")
            return
        }
        let parent = target.isContained(by: property) ? source : nil
        let isCertain = model.isCertainTarget(of: property, in: set, from: type(of: source))
        for item in change.items {
            switch item {
            case .entity(let payload):
                guard builder.isInside(payload, target, property, isCertain: isCertain) else {
                    unidentified.insert("\(set.name)/\(change.navigation)")
                    continue
                }
                guard let id = try add(payload, target, below: parent) else { continue }
                add(.init(source: source, navigation: property.name, target: id, isAdded: true))
            case .removed(let removed):
                if removed.reason == .deleted { forgetLinks(of: removed.entity, in: target) }
                guard let id = try builder.find(removed.entity, in: target, below: parent) else { continue }
                // What leaves the entity that contains it is gone, whatever reason is said.
                if removed.reason == .deleted || parent != nil {
                    try remove(id, isDeleted: true)
                } else {
                    unlinked.insert(id)
                    add(.init(source: source, navigation: property.name, target: id, isAdded: false))
                }
            case .unreadable(let found): try setAside(found, target, below: parent)
            case .link: break
            }
        }
    }

    /// A property of the entity's own type, which may be derived from that of the set.
    func declared(_ navigation: String, _ id: EntityID) -> Property? { type(of: id)?.findProperty(navigation) }

    /// The entity's own type, as the page or the state has it; nil if neither does.
    func type(of id: EntityID) -> EntityType? {
        let row = try? storage.serviceRow(id)
        let image = pages.last.flatMap { page in page.images[(page.starts.last ?? 0)...].first { $0.entity == id } }
        return (image?.type ?? row?.type).flatMap(model.findEntityType)
    }

    mutating func remove(_ id: EntityID, isDeleted: Bool) throws(StateError) {
        // A link that stands in front of it must not come behind it.
        if pages[pages.count - 1].linked.contains(id) { pages.append(Part()) }
        if isDeleted {
            pages[pages.count - 1].page.removed.append(id)
        } else {
            pages[pages.count - 1].page.left.append(id)
        }
        pages[pages.count - 1].gone.insert(id)
        tally.removed += 1
    }

    /// The entity is as it was. What comes expanded below one entity may be more than a record may name.
    mutating func name(_ id: EntityID) {
        guard pages[pages.count - 1].page.unchanged.last != id else { return }
        if pages[pages.count - 1].page.unchanged.count >= namedLimit { pages.append(Part()) }
        pages[pages.count - 1].page.unchanged.append(id)
    }

    /// What was removed, or linked, in this part and is shown again begins a new one: a record has one order.
    ///
    /// - Parameter start: where the images of the last entity begin.
    private mutating func beginPart(at start: Int) {
        let last = pages.count - 1
        let isAgain =
            (!pages[last].gone.isEmpty || !pages[last].linked.isEmpty)
            && pages[last].images[start...].contains {
                pages[last].gone.contains($0.entity) || pages[last].linked.contains($0.entity)
            }
        guard isAgain else { return pages[last].starts.append(start) }
        var part = Part()
        part.images = Array(pages[last].images[start...])
        part.starts = [0]
        pages[last].images.removeSubrange(start...)
        pages.append(part)
    }

    // MARK: Links

    mutating func add(_ link: DownloadPage.ChangedLink) {
        pages[pages.count - 1].page.links.append(link)
        pages[pages.count - 1].linked.insert(link.source)
        if let target = link.target { pages[pages.count - 1].linked.insert(target) }
        tally.links += 1
    }
}

/// How many entities a download brought, by what they are to the store.
public struct DownloadTally: Sendable, Hashable {
    public var inserted = 0
    public var changed = 0
    /// As they were, those that came several times counted each time.
    public var unchanged = 0
    /// Those that the service says are gone or left the query, and those that a full download did not bring any more.
    public var removed = 0
    /// Links that a delta told of.
    public var links = 0

    public init() {}

    public var entities: Int { inserted + changed + unchanged }

    mutating func count(_ finding: LocalFinding) {
        switch finding {
        case .inserted: inserted += 1
        case .changed: changed += 1
        case .unchanged: unchanged += 1
        }
    }

    public static func += (a: inout DownloadTally, b: DownloadTally) {
        a.inserted += b.inserted
        a.changed += b.changed
        a.unchanged += b.unchanged
        a.removed += b.removed
        a.links += b.links
    }
}
