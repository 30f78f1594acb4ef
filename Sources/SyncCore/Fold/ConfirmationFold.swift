import EDM
import Operations

/// The confirmation of an operation by the service, with the entities that the response contains.
struct ConfirmationFold {
    let pending: PendingOperation
    let images: [EntityImage]
    /// The effects of the operation in doubt that downloads have shown since its transmission, and that the confirmation
    /// does not replace.
    let shown: Set<ShownEffect>

    init(_ pending: PendingOperation, _ images: [EntityImage], shown: Set<ShownEffect>) {
        self.pending = pending
        self.shown = shown
        guard !shown.isEmpty else {
            self.images = images
            return
        }
        // The response to a repeated request is older than the download. A version that was read for the confirmation
        // is in a record of its own.
        let known = Set(shown.filter { $0.target == nil }.map(\.entity))
        let created = pending.operation.createdEntities
        self.images = images.filter { !known.contains($0.entity) || created.contains($0.entity) }
    }

    /// Applies the operation and the response to the base state, and removes the operation from the queue.
    func apply(to layers: inout LayeredState) throws(StateError) {
        // Removed first, so that the pending changes are those that were made after it.
        try layers.removePending(pending.sequence)
        // Not the properties, because the closure would copy the whole value.
        let (operation, images, isCall) = (pending.operation, images, pending.operation.call != nil)
        let (created, referenced) = (operation.createdEntities, operation.referencedEntities)
        var own = EntityIDs(created)
        own.formUnion(referenced)
        try layers.mergeBases.uncount(pending, of: own)
        // Usually the whole operation, which is not copied then.
        let isWhole = shown.isEmpty && !pending.isIncompatible
        let part = isWhole ? nil : try layers.visible(pending)?.omitting(shown)
        try layers.keepNextEntity(above: images)
        var (touched, returned): (EntityIDSet, [EntityID]) = ([], [])
        var before: MergeBaseTracker.PriorVersions = [:]
        let answer = try layers.editBase { e throws(StateError) in
            if isWhole { try e.apply(operation) } else if let part { try e.apply(part) }
            touched = e.touched.entities
            before = e.takeVersions()
            if isCall { returned = try Self.newEntities(images, e) }
            try e.apply(images, isAnswer: true)
        }.before
        let isLate = pending.status.kind == .inDoubt
        try layers.mergeBases.advance(
            part ?? operation, of: part.map { EntityIDs($0.touchedEntities) } ?? own, before, answer, images,
            isLate: isLate)
        if !shown.isEmpty { try layers.mergeBases.advance(operation, beyond: shown) }
        try finish(touched, created, returned: returned, referenced, &layers)
        try layers.mergeBases.discard(of: created + referenced)
        if let stream = pending.operation.stream {
            // The ETag is not known yet; a separate record follows if the service returns it.
            try layers.storage.putStream(
                StreamImage(entity: pending.operation.subject, property: stream.property, content: stream.content))
        }
    }

    /// Covers and identifies new entities, and marks ETags that are stale now.
    private func finish(
        _ touched: EntityIDSet, _ created: [EntityID], returned: [EntityID], _ referenced: [EntityID],
        _ layers: inout LayeredState
    ) throws(StateError) {
        let storage = layers.storage
        let new = created + returned
        let queries = new.isEmpty ? [] : try layers.definingQueries()
        // A new entity belongs to the queries over its set until the next download decides.
        for id in new where !queries.isEmpty {
            guard let set = try storage.set(of: id) else { continue }
            if let model = layers.model, let own = model.findEntitySet(set), own.isContained {
                for state in queries where try storage.brings(state.query, id, in: own, model) {
                    try storage.bookkeeping.coverUndelivered(id, query: state.query.name)
                }
                continue
            }
            for state in queries where QueryTarget(state.query.query).set == set {
                try storage.bookkeeping.coverUndelivered(id, query: state.query.name)
            }
        }
        try layers.assignKeys(created)
        // A change or a new link also changes the entity's ETag (OData 4.01 Part 1, 8.3.1). If the response does not
        // contain it, the stored ETag is stale.
        var reported = EntityIDs()
        for place in images.indices where images[place].etag != nil { reported.insert(images[place].entity) }
        var changed = EntityIDs()
        touched.forEachInOrder { changed.insert($0) }
        changed.formUnion(referenced)
        var gone: Set<EntityID> = []
        for id in changed where !reported.contains(id) {
            // Most rows are not changed, and are not copied.
            guard let version = try layers.baseVersion(id) else { continue }
            if version.origin == .gone { gone.insert(id) }
            guard version.hasETag, version.origin == .service, var row = try layers.baseRow(id) else { continue }
            row.origin = .serviceWithStaleETag
            try layers.edit(.base) { e throws(StateError) in try e.put(row) }
        }
        try layers.removeGone(among: gone)
        // Neither a response without a body nor a key that a user entered shows whether the new entity has an ETag.
        for id in created where !reported.contains(id) {
            guard var row = try layers.baseRow(id), row.origin == .service,
                let type = layers.model?.findEntityType(row.type)
            else {
                continue
            }
            let keys = Set(type.keyProperties.map(\.name))
            if let last = images.last(where: { $0.entity == id }), !keys.isSuperset(of: last.values.names) { continue }
            row.origin = .serviceWithStaleETag
            try layers.edit(.base) { e throws(StateError) in try e.put(row) }
        }
    }

    /// Returns the entities that an action returned and the state does not have.
    private static func newEntities(
        _ images: [EntityImage], _ editor: StateEditor
    ) throws(StateError) -> [EntityID] {
        var found: [EntityID] = []
        for image in images where try editor.storage.row(image.entity) == nil && !found.contains(image.entity) {
            found.append(image.entity)
        }
        return found
    }
}
