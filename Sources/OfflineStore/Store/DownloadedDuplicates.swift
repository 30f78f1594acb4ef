import EDM
import ODataQuery
import Operations
import SyncCore

/// Created entities that a download stored a second time, because it delivered them before their keys were known here:
/// while the creation was in doubt, or its response was on the way.
///
/// When such a creation is confirmed, the second entity is removed, and the created one takes its place: its values,
/// its links, and the queries that delivered it, whose next deltas do not contain it any more.
struct DownloadedDuplicates {
    /// A created entity and the second one that a download stored.
    private struct Pair {
        let created: EntityID
        /// The service's version under the second ID.
        let row: EntityRow
        /// Whether no pending operation refers to the second entity or to one that it contains.
        let isRemovable: Bool
        /// Whether no response contained the key, which only the second entity has.
        var isFoundByLinks = false
    }

    private struct Twin {
        let pair: Pair
        let links: [DownloadPage.ChangedLink]
        /// The names of the queries that delivered it.
        let queries: [String]

        /// The service's version under the ID of the created entity.
        var image: EntityImage {
            var image = EntityImage(
                entity: pair.created, set: pair.row.set, type: pair.row.type, values: pair.row.values,
                etag: pair.row.etag)
            image.editLink = pair.row.editLink
            return image
        }
    }

    private let twins: [Twin]
    /// The second entities that were found by their content, and not by their key.
    private let others: [EntityID]
    /// The queries with twins that cannot be removed, or whose contained entities are removed with them, and whose next
    /// download would not repair that.
    private let incomplete: [String]

    /// Determines the twins. Must be called before the creations are confirmed.
    ///
    /// - Parameters:
    ///   - images: The service's versions of entities, with the keys of created ones.
    ///   - created: The entities of the creations to be confirmed.
    ///   - replaced: Other twins, which were found by their content.
    init(
        of created: Set<EntityID>, in images: [EntityImage], and replaced: [EntityID] = [], state: WorkingSet,
        model: EntityDataModel
    ) throws(StateError) {
        let search = TwinSearch(state: state, model: model)
        var pairs: [Pair] = []
        var keyless = created
        for image in images where created.contains(image.entity) {
            guard try search.hasKey(image), keyless.remove(image.entity) != nil else { continue }
            guard let row = try search.twin(of: image) else { continue }
            pairs.append(Pair(created: image.entity, row: row, isRemovable: try !search.isInUse(row.id)))
        }
        var place = 0
        while place < pairs.count, !keyless.isEmpty {
            let (created, second) = (pairs[place].created, pairs[place].row.id)
            place += 1
            guard pairs[place - 1].isRemovable else { continue }
            let used = Set(pairs.map(\.row.id))
            for (created, row) in try search.linkedTwins(of: keyless, from: created, and: second, besides: used) {
                keyless.remove(created)
                pairs.append(Pair(created: created, row: row, isRemovable: true, isFoundByLinks: true))
            }
        }
        // A link between two of the second entities becomes one between the created ones.
        let successors = Dictionary(
            pairs.filter(\.isRemovable).map { ($0.row.id, $0.created) }, uniquingKeysWith: { first, _ in first })
        let queries = pairs.isEmpty ? [] : try state.bookkeeping.queries()
        var twins: [Twin] = []
        var incomplete: Set<String> = []
        for pair in pairs {
            var delivering: [String] = []
            let contents = try search.contents(of: pair.row.id)
            let isWhole = pair.isRemovable && contents.allSatisfy { successors[$0] != nil }
            for query in queries where try state.bookkeeping.isCovered(pair.row.id, by: query.query.name) {
                delivering.append(query.query.name)
                let isFull = query.deltaLink == nil && query.next == nil
                if !isWhole, !isFull { incomplete.insert(query.query.name) }
            }
            let links = try search.links(of: pair.row, as: pair.created, successors)
            twins.append(Twin(pair: pair, links: links, queries: delivering))
        }
        self.twins = twins
        others = replaced.filter { id in !twins.contains { $0.pair.row.id == id } }
        self.incomplete = incomplete.sorted()
    }

    /// Determines the twins of the entities that operations create, from the responses to them.
    init(
        confirming outcomes: [BatchAnswered.Outcome], state: WorkingSet, model: EntityDataModel
    ) throws(StateError) {
        var (created, images): (Set<EntityID>, [EntityImage]) = ([], [])
        for outcome in outcomes {
            guard case .confirmed(let own) = outcome.result,
                let pending = try state.pendingOperation(outcome.operation)
            else { continue }
            created.formUnion(pending.operation.createdEntities)
            images += own
        }
        try self.init(of: created, in: images, state: state, model: model)
    }

    /// Adds the records that confirm the creations to the running transaction of a store, and replaces the twins.
    ///
    /// - Parameter isRead: Whether the records contain the versions that the service has now. Otherwise they contain
    ///   those of responses, and other clients may have changed the entities since.
    func add(_ records: [Record.Body], isRead: Bool, to core: StoreCore) throws {
        // First, because links by referential constraints become those of the created entities.
        let removable = twins.filter(\.pair.isRemovable)
        let removed = others + removable.map(\.pair.row.id)
        if !removed.isEmpty { try core.add(.entitiesMissing(removed.sorted())) }
        for record in records { try core.add(record) }
        let images = removable.filter(\.pair.isFoundByLinks).map(\.image)
        if !images.isEmpty { try core.add(.entitiesRead(images)) }
        for record in deliveries(isRead: isRead) { try core.add(record) }
    }

    /// Returns the deliveries of the second entities, under the IDs of the created ones.
    private func deliveries(isRead: Bool) -> [Record.Body] {
        var records: [Record.Body] = []
        for twin in twins where twin.pair.isRemovable {
            for query in twin.queries {
                records.append(
                    .downloadPage(
                        isRead || twin.pair.isFoundByLinks
                            ? DownloadPage(query: query, unchanged: [twin.pair.created], links: twin.links)
                            : DownloadPage(query: query, entities: [twin.image], links: twin.links)))
            }
        }
        if !incomplete.isEmpty {
            records.append(.downloadStarted(incomplete.map { QueryStart(query: $0, mode: .restarted) }))
        }
        return records
    }
}

/// The search for the second entities of created ones.
private struct TwinSearch {
    let state: WorkingSet
    let model: EntityDataModel

    /// Returns whether the service's version of an entity contains its key.
    func hasKey(_ image: EntityImage) throws(StateError) -> Bool {
        guard let type = model.findEntityType(image.type) else { return false }
        return KeyPredicate(of: type, in: image.values) != nil
    }

    /// Returns whether a pending operation refers to an entity or to one that it contains.
    func isInUse(_ id: EntityID) throws(StateError) -> Bool {
        var (left, seen): ([EntityID], Set<EntityID>) = ([id], [id])
        while let id = left.popLast() {
            guard try state.pendingOperations(naming: id).isEmpty else { return true }
            left += try contents(of: id).filter { seen.insert($0).inserted }
        }
        return false
    }

    /// Returns the entities that an entity contains.
    func contents(of id: EntityID) throws(StateError) -> [EntityID] {
        guard let name = try state.set(of: id), let set = model.findEntitySet(name) else { return [] }
        var found: [EntityID] = []
        for contained in model.containedSets(in: set) { found += try state.contained(in: id, contained) }
        return found
    }

    /// Returns another entity of the service that has the key of the image and was stored after the created one.
    func twin(of image: EntityImage) throws(StateError) -> EntityRow? {
        guard let set = model.findEntitySet(image.set), let type = model.findEntityType(image.type) else { return nil }
        let found: EntityID?
        if set.isContained {
            guard let container = try state.container(of: image.entity, in: set),
                let key = KeyPredicate(of: type, in: image.values)
            else { return nil }
            found = try state.entity(of: set, key: key, in: container)
        } else {
            guard let key = KeyText.of(image.values, type: type) else { return nil }
            found = try state.entity(set: set.name, key: key)
        }
        // An older entity with the key is another one, which was deleted before.
        guard let found, found > image.entity, let row = try state.serviceRow(found), row.origin.isOnService,
            KeyText.of(row.values, type: type) == KeyText.of(image.values, type: type)
        else { return nil }
        return row
    }

    /// Returns the second entities of created ones whose keys are unknown: a second entity has links to them where the
    /// created one has links to the created ones, and they have the values that were sent.
    ///
    /// - Parameters:
    ///   - keyless: The created entities without keys.
    ///   - created: A created entity that may have links to them.
    ///   - second: The second entity of `created`.
    ///   - used: The second entities that are already assigned.
    func linkedTwins(
        of keyless: Set<EntityID>, from created: EntityID, and second: EntityID, besides used: Set<EntityID>
    ) throws(StateError) -> [(created: EntityID, row: EntityRow)] {
        let theirs = try partners(of: second, \.inBase)
        var (keyless, used) = (keyless, used)
        var found: [(created: EntityID, row: EntityRow)] = []
        // Several relationships may lead to the same entities.
        for (relationship, ids) in try partners(of: created, \.inLocal).sorted(by: { $0.key.precedes($1.key) }) {
            var sent: [Creation] = []
            for id in ids where keyless.contains(id) {
                guard let creation = try sentCreation(of: id), creation.set == sent.first?.set ?? creation.set
                else { continue }
                sent.append(creation)
            }
            guard let first = sent.first, let last = sent.map(\.entity).max() else { continue }
            var others: [EntityRow] = []
            for id in theirs[relationship] ?? [] where id > last && !used.contains(id) {
                guard let row = try state.serviceRow(id), row.origin.isOnService, row.set == first.set,
                    try !isInUse(id)
                else { continue }
                others.append(row)
            }
            let values = sent.map { creation in
                PropertyValues(creation.values.filter { $0.value != .null }.map { ($0.name, $0.value) })
            }
            let pairs = ChildMatching.byValues(values, others.map(\.values)) { values[$0] == values[$1] }
            for pair in pairs {
                keyless.remove(sent[pair.sent].entity)
                used.insert(others[pair.answered].id)
                found.append((sent[pair.sent].entity, others[pair.answered]))
            }
        }
        return found
    }

    /// Returns the creation of an entity with the values that were sent, without those of operations that have not been
    /// sent yet.
    private func sentCreation(of id: EntityID) throws(StateError) -> Creation? {
        var operations: [PendingOperation] = []
        for sequence in try state.pendingOperations(naming: id) {
            if let pending = try state.pendingOperation(sequence) { operations.append(pending) }
        }
        guard let first = operations.first, var creation = first.operation.creation(of: id) else { return nil }
        for later in operations where later.status.batch == first.status.batch && later.operation.call == nil {
            if case .update(id, let changes, _) = later.operation.action { creation.values.merge(changes) }
        }
        return creation
    }

    /// Returns the entities at the other ends of the links of an entity, by relationship and direction.
    private func partners(
        of id: EntityID, _ isCounted: (LinkRow) -> Bool
    ) throws(StateError) -> [Relationship: [EntityID]] {
        var partners: [Relationship: [EntityID]] = [:]
        for link in try state.links(of: id) where isCounted(link) && link.first != link.second {
            let isForward = link.first == id
            let relationship = Relationship(name: link.relationship, isForward: isForward)
            partners[relationship, default: []].append(isForward ? link.second : link.first)
        }
        return partners
    }

    /// Returns the links of a second entity at the service that no values determine, as links of the created one.
    ///
    /// - Parameter successors: The created entities by the second ones that they replace.
    func links(
        of row: EntityRow, as created: EntityID, _ successors: [EntityID: EntityID]
    ) throws(StateError) -> [DownloadPage.ChangedLink] {
        var found: [DownloadPage.ChangedLink] = []
        for link in try state.links(of: row.id) where link.inBase {
            let isFirst = link.first == row.id
            let other = isFirst ? link.second : link.first
            let target = successors[other] ?? other
            if let own = try navigation(of: row.id, link.relationship, isForward: isFirst) {
                guard own.hasNoConstraint else { continue }
                found.append(.init(source: created, navigation: own.name, target: target, isAdded: true))
            } else if let back = try navigation(of: other, link.relationship, isForward: !isFirst) {
                guard back.hasNoConstraint else { continue }
                found.append(.init(source: target, navigation: back.name, target: created, isAdded: true))
            }
        }
        return found
    }

    private func navigation(
        of id: EntityID, _ relationship: String, isForward: Bool
    ) throws(StateError) -> Property? {
        guard let row = try state.serviceRow(id), let type = model.findEntityType(row.type) else { return nil }
        return type.navigationProperties.first {
            $0.navigation?.relationship == Relationship(name: relationship, isForward: isForward)
        }
    }
}

extension Relationship {
    fileprivate func precedes(_ other: Relationship) -> Bool {
        name == other.name ? isForward && !other.isForward : name < other.name
    }
}

extension Property {
    fileprivate var hasNoConstraint: Bool {
        navigation.map { $0.constraints.isEmpty && $0.inverseConstraints.isEmpty } ?? false
    }
}
