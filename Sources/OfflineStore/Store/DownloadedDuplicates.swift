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
    private struct Twin {
        let created: EntityID
        /// The service's version under the second ID.
        let row: EntityRow
        let links: [DownloadPage.ChangedLink]
        /// The names of the queries that delivered it.
        let queries: [String]
        /// Whether no pending operation refers to it.
        let isRemovable: Bool
    }

    private let twins: [Twin]
    /// The second entities that were found by their content, and not by their key.
    private let others: [EntityID]
    /// The queries with twins that cannot be removed, and whose next download would not repair that.
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
        let queries = created.isEmpty ? [] : try state.bookkeeping.queries()
        var twins: [Twin] = []
        var incomplete: Set<String> = []
        for image in images
        where created.contains(image.entity) && !twins.contains(where: { $0.created == image.entity }) {
            guard let id = try Self.twin(of: image, state, model), let row = try state.serviceRow(id) else { continue }
            var isRemovable = replaced.contains(id)
            if !isRemovable { isRemovable = try state.pendingOperations(naming: id).isEmpty }
            var delivering: [String] = []
            for query in queries where try state.bookkeeping.isCovered(id, by: query.query.name) {
                delivering.append(query.query.name)
                let isFull = query.deltaLink == nil && query.next == nil
                if !isRemovable, !isFull { incomplete.insert(query.query.name) }
            }
            twins.append(
                Twin(
                    created: image.entity, row: row, links: try Self.links(of: row, as: image.entity, state, model),
                    queries: delivering, isRemovable: isRemovable))
        }
        self.twins = twins
        others = replaced.filter { id in !twins.contains { $0.row.id == id } }
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

    /// Adds the outcomes of the creations to the running transaction of a store, and replaces the twins.
    ///
    /// - Parameter read: The versions of the entities that were read just now. Without them, the outcomes contain the
    ///   versions of the responses, and other clients may have changed the entities since.
    func add(_ answered: BatchAnswered, reading read: [EntityImage]? = nil, to core: StoreCore) throws {
        // First, because links by referential constraints become those of the created entities.
        let removed = others + twins.filter(\.isRemovable).map(\.row.id)
        if !removed.isEmpty { try core.add(.entitiesMissing(removed.sorted())) }
        try core.add(.batchAnswered(answered))
        if let read { try core.add(.entitiesRead(read)) }
        for record in deliveries(isRead: read != nil) { try core.add(record) }
    }

    /// Returns the deliveries of the second entities, under the IDs of the created ones.
    private func deliveries(isRead: Bool) -> [Record.Body] {
        var records: [Record.Body] = []
        for twin in twins where twin.isRemovable {
            var image = EntityImage(
                entity: twin.created, set: twin.row.set, type: twin.row.type, values: twin.row.values,
                etag: twin.row.etag)
            image.editLink = twin.row.editLink
            for query in twin.queries {
                records.append(
                    .downloadPage(
                        isRead
                            ? DownloadPage(query: query, unchanged: [twin.created], links: twin.links)
                            : DownloadPage(query: query, entities: [image], links: twin.links)))
            }
        }
        if !incomplete.isEmpty {
            records.append(.downloadStarted(incomplete.map { QueryStart(query: $0, mode: .restarted) }))
        }
        return records
    }

    /// Returns another entity of the service that has the key of the image and was stored after the created one.
    private static func twin(
        of image: EntityImage, _ state: WorkingSet, _ model: EntityDataModel
    ) throws(StateError) -> EntityID? {
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
        return found
    }

    /// Returns the links of a second entity at the service that no values determine, as links of the created one.
    private static func links(
        of row: EntityRow, as created: EntityID, _ state: WorkingSet, _ model: EntityDataModel
    ) throws(StateError) -> [DownloadPage.ChangedLink] {
        var found: [DownloadPage.ChangedLink] = []
        for link in try state.links(of: row.id) where link.inBase && link.first != link.second {
            let isFirst = link.first == row.id
            let other = isFirst ? link.second : link.first
            if let own = try navigation(of: row.id, link.relationship, isForward: isFirst, state, model) {
                guard own.hasNoConstraint else { continue }
                found.append(.init(source: created, navigation: own.name, target: other, isAdded: true))
            } else if let back = try navigation(of: other, link.relationship, isForward: !isFirst, state, model) {
                guard back.hasNoConstraint else { continue }
                found.append(.init(source: other, navigation: back.name, target: created, isAdded: true))
            }
        }
        return found
    }

    private static func navigation(
        of id: EntityID, _ relationship: String, isForward: Bool, _ state: WorkingSet, _ model: EntityDataModel
    ) throws(StateError) -> Property? {
        guard let row = try state.serviceRow(id), let type = model.findEntityType(row.type) else { return nil }
        return type.navigationProperties.first {
            $0.navigation?.relationship == Relationship(name: relationship, isForward: isForward)
        }
    }
}

extension Property {
    fileprivate var hasNoConstraint: Bool {
        navigation.map { $0.constraints.isEmpty && $0.inverseConstraints.isEmpty } ?? false
    }
}
