import EDM
import Operations

// MARK: - Layers

extension LayeredState {
    /// Changes a layer. Returns the entities of the base state that changed, or that gained or lost a link.
    @discardableResult
    mutating func edit(
        _ layer: StateEditor.Layer, _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) -> EntityIDSet {
        // Only if the record with the metadata was lost. The entities then have to be downloaded again.
        guard let model, let index else { return [] }
        let kind: StateLayer.LayerKind =
            layer == .local ? .local : edits.areTracked ? .baseUnderPending : .baseWithoutPending
        let layer = self.layer(kind, index)
        layer.restart(edits.matches)
        // Moved, because the first change would copy the whole table.
        edits.matches = [:]
        defer { edits.matches = layer.takeMatches() }
        var editor = StateEditor(storage: layer, model: model)
        // Confirmed operations were validated when they were made, and a download of millions of entities is not
        // tracked.
        if kind == .local { swap(&editor.touched, &touched) }
        defer { if kind == .local { swap(&editor.touched, &touched) } }
        try body(&editor)
        if kind == .baseUnderPending { edits.add(layer) }
        return kind == .local ? [] : editor.touched.entities
    }

    /// Returns a layer of the kind. Edits are not nested, so those of the base state share a layer.
    private mutating func layer(_ kind: StateLayer.LayerKind, _ index: RelationshipIndex) -> StateLayer {
        if let baseLayer, baseLayer.kind == kind { return baseLayer }
        let layer = StateLayer(storage, index, kind)
        if kind != .local { baseLayer = layer }
        return layer
    }

    /// Changes the base state. Returns the changed entities, and their versions before the change.
    mutating func editBase(
        notesTouched: Bool = true,
        _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) -> (touched: EntityIDSet, before: MergeBaseTracker.PriorVersions) {
        let watches = try storage.hasPending()
        var before: MergeBaseTracker.PriorVersions = [:]
        let touched = try edit(.base) { e throws(StateError) in
            e.watchesBase = watches
            e.notesTouched = notesTouched
            try body(&e)
            before = e.before
        }
        return (touched, before)
    }

    /// Changes the base state because of changes, or possible changes, by other clients. Stores merge bases.
    mutating func editForOthers(
        _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) {
        try mergeBases.store(try editBase(notesTouched: false, body).before)
    }

    /// Applies entities that the service returned and that other clients may have changed.
    ///
    /// - Parameter download: The record of the download, or nil outside a download.
    mutating func apply(_ images: [EntityImage], of download: SequenceNumber? = nil) throws(StateError) {
        try keepNextEntity(above: images)
        let before = try editBase(notesTouched: false) { e throws(StateError) in
            e.download = download
            try e.apply(images, isAnswer: false)
        }.before
        if before.isEmpty { return }
        // By index, because a loop over the elements copies each image.
        let unchanged = images.indices.filter { place in
            guard let row = before[images[place].entity]??.row, row.hasETag else { return false }
            return images[place].etag.isExactly(row.etag)
        }
        try mergeBases.store(before, unchanged: Set(unchanged.map { images[$0].entity }))
    }

    /// Removes entities that the service reported as missing.
    mutating func remove(_ missing: [EntityID]) throws(StateError) {
        try beginRebase()
        for id in missing {
            let isNamed = try !storage.pendingOperations(naming: id).isEmpty
            try editForOthers { e throws(StateError) in try e.removeFromBase(id, hasPending: isNamed) }
        }
    }

    /// Removes the entities that the service no longer has and that no operation refers to any more.
    mutating func removeGone(among ids: Set<EntityID>) throws(StateError) {
        for id in ids.sorted() where try baseRow(id)?.origin == .gone {
            guard try storage.pendingOperations(naming: id).isEmpty else { continue }
            try edit(.base) { e throws(StateError) in try e.removeFromBase(id, hasPending: false) }
        }
    }

    /// Returns the origin of the base state of an entity, and whether it has an ETag, while records are applied.
    func baseVersion(_ id: EntityID) throws(StateError) -> (origin: EntityRow.Origin, hasETag: Bool)? {
        switch try storage.base(id) {
        case .row(let row): (row.origin, row.hasETag)
        case .absent: nil
        case nil: try storage.version(of: id)
        }
    }

    /// Returns the base state of an entity while records are applied.
    func baseRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        switch try storage.base(id) {
        case .row(let row): row
        case .absent: nil
        case nil: try storage.row(id)
        }
    }
}

// MARK: - Operations

extension LayeredState {
    /// Adds a new operation and applies it to the current state.
    ///
    /// - Parameter encoded: The encoded operation, if the caller has it.
    mutating func add(
        _ operation: Operation, sequence: SequenceNumber, time: Timestamp, encoded: ArraySlice<UInt8>?
    ) throws(StateError) {
        try keepNextEntity(above: operation)
        // Otherwise its creations are registered when it is applied below.
        if !isRebased { try register(operation) }
        try mergeBases.advance(for: operation)
        let pending = PendingOperation(sequence: sequence, time: time, operation: operation, status: .pending)
        try storage.putPending(pending, encoded: encoded)
        if isRebased {
            try reapply(pending)
        } else if edits.areTracked {
            edits.added.insert(sequence)
        }
    }

    /// Restores undone operations in their old positions, because pending operations are applied in order of their
    /// numbers.
    mutating func redo(_ sequences: [SequenceNumber]) throws(StateError) {
        guard try storage.bookkeeping.hasUndone() else { return }
        for sequence in sequences {
            guard var undone = try storage.bookkeeping.undoneOperation(sequence) else { continue }
            try beginRebase()
            // A redo implies that the operation fits again.
            if undone.operation.isIncompatible { undone.operation.status = .pending }
            try storage.bookkeeping.removeUndone(sequence)
            try storage.putPending(undone.operation)
            if edits.areTracked { edits.added.insert(sequence) }
            try register(undone.operation.operation)
        }
    }

    /// Removes a pending operation. It may be added again with other content under the same number.
    mutating func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try storage.removePending(sequence)
        if edits.areTracked { edits.removed.insert(sequence) }
    }

    /// Changes the status of a pending operation. The time of the change is that of the record.
    mutating func setStatus(_ sequence: SequenceNumber, _ status: PendingOperation.Status) throws(StateError) {
        guard let (former, then) = try storage.pendingStatus(of: sequence) else { return }
        // The visible part of the operation changes.
        if former.isIncompatible != status.isIncompatible { try revertPending() }
        try storage.setPendingStatus(
            status, since: former.kind != status.kind ? time ?? then : then, of: sequence)
    }

    /// Registers the entities that an operation creates, even if it is undone before it is ever applied.
    func register(_ operation: Operation) throws(StateError) {
        if case .create(let creation, _) = operation.action { try register(creation) }
    }

    private func register(_ creation: Creation) throws(StateError) {
        guard model?.findEntitySet(creation.set) != nil, model?.findEntityType(creation.type) != nil else { return }
        try storage.register(creation.entity, set: creation.set)
        for inline in creation.inline { for child in inline.entities { try register(child) } }
    }

    func keepNextEntity(above operation: Operation) throws(StateError) {
        if let only = operation.onlyCreatedEntity { return try keepNextEntity(above: CollectionOfOne(only)) }
        let created = operation.createdEntities
        if !created.isEmpty { try keepNextEntity(above: created) }
    }

    func keepNextEntity(above images: [EntityImage]) throws(StateError) {
        // By index, because the elements of a lazy map over the images are copies.
        try keepNextEntity(above: images.indices.lazy.map { images[$0].entity })
    }

    func keepNextEntity(above entities: some Sequence<EntityID>) throws(StateError) {
        try storage.changeHeader { header in
            for id in entities where id >= header.nextEntity {
                header.nextEntity = EntityID(rawValue: id.rawValue &+ 1)
            }
        }
    }

    /// Assigns keys that the app generated and no response repeated. Skips a key that another entity has now; a former
    /// owner loses it.
    func assignKeys(_ created: [EntityID]) throws(StateError) {
        for id in created {
            guard let row = try baseRow(id), let type = model?.findEntityType(row.type),
                let set = model?.findEntitySet(row.set)
            else { continue }
            if set.isContained {
                let key = try storage.keyText(KeyText.of(row.values, type: type), of: id, in: set)
                if let key { try storage.assignKey(set: row.set, key: key, to: id) }
                continue
            }
            guard let key = KeyText.of(row.values, type: type) else { continue }
            let known = try storage.entity(set: row.set, key: key)
            if known == id { continue }
            if let known, let owner = try baseRow(known), KeyText.of(owner.values, type: type) == key { continue }
            try storage.assignKey(set: row.set, key: key, to: id)
        }
    }
}
