import EDM
import Operations
import SyncCore

/// The content that a store removes after its upload.
package struct RemovalAfterUpload: Sendable, Hashable {
    /// A Boolean value that indicates whether the content of a stream is removed.
    package var streams: Bool
    /// The entity sets whose new entities are removed. The next download delivers those that the service still has.
    package var sets: Set<String>

    package init(streams: Bool = false, sets: Set<String> = []) {
        self.streams = streams
        self.sets = sets
    }

    /// Returns the entities of these sets that pending operations create or change.
    func entities(of operations: [SequenceNumber], _ state: WorkingSet) throws -> [SentEntity] {
        guard !sets.isEmpty else { return [] }
        var found: [EntityID: SentEntity] = [:]
        for sequence in operations {
            guard let operation = try state.pendingOperation(sequence)?.operation else { continue }
            let created = Set(operation.createdEntities)
            for id in operation.touchedEntities {
                guard let set = try state.set(of: id), sets.contains(set) else { continue }
                found[id, default: SentEntity(id: id, set: set)].isCreated =
                    found[id]?.isCreated == true || created.contains(id)
            }
        }
        return found.values.sorted { $0.id < $1.id }
    }

    /// Returns the entities of these sets that have left the store and that a read outside a download adds again.
    ///
    /// No query covers them, so no full download would remove those that the service replaces after the read.
    func returning(_ images: [EntityImage], _ state: WorkingSet) throws -> [SentEntity] {
        guard !sets.isEmpty else { return [] }
        let next = try state.nextEntity
        var found: [EntityID: SentEntity] = [:]
        for image in images where sets.contains(image.set) && image.entity < next {
            guard try state.row(image.entity) == nil else { continue }
            found[image.entity] = SentEntity(id: image.entity, set: image.set, isCreated: true)
        }
        return found.values.sorted { $0.id < $1.id }
    }

    /// Returns the records that remove entities: as if their defining queries did not contain them any more.
    ///
    /// An entity stays if a download has delivered it, or if pending operations need it; then it is removed after the
    /// upload of these.
    func pages(_ entities: [SentEntity], _ state: WorkingSet) throws -> [DownloadPage] {
        var pages: [String: DownloadPage] = [:]
        let queries = entities.isEmpty ? [] : try state.bookkeeping.queries().map(\.query.name)
        for entity in entities {
            guard let row = try state.row(entity.id), row.origin.isOnService,
                try state.pendingOperations(naming: entity.id).isEmpty
            else { continue }
            let covering = try queries.filter { try state.bookkeeping.isCovered(entity.id, by: $0) }
            guard try covering.allSatisfy({ try state.bookkeeping.awaitsDelivery(entity.id, by: $0) }),
                !covering.isEmpty || entity.isCreated
            else { continue }
            // Without a defining query, the entity is in the store only because it was created here.
            for query in covering.isEmpty ? [""] : covering {
                pages[query, default: DownloadPage(query: query)].left.append(entity.id)
            }
        }
        return pages.values.sorted { $0.query < $1.query }
    }
}

/// An entity that uploaded operations created or changed, or that a read adds again.
struct SentEntity {
    let id: EntityID
    let set: String
    var isCreated = false
}

/// The streams and entities of uploaded operations.
struct UploadedCopies {
    var streams: [SentStream]
    var entities: [SentEntity]
}
