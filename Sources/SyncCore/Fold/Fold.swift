public import EDM
public import Operations
import ODataWire

/// The fold: derives the state from the log by applying one record after the other.
///
/// The current state is a function of the base state, as the service confirmed it, and of the pending operations,
/// applied in order. A new operation is applied to the current state at once. When other records change the base state,
/// the pending operations are reverted and reapplied (``finishRebase()``). Therefore an operation always applies to the
/// newest base state, and a rebuilt state equals one that was updated record by record. In a long queue only the
/// affected operations are reverted, with the same result; see ``PartialReplay``.
///
/// The fold is pure: it uses no clock, no randomness, and no order except that of the log.
public struct Fold {
    public let storage: WorkingSet
    public private(set) var model: EntityDataModel?
    /// The relationships of the model, or nil before a service is installed.
    public private(set) var index: RelationshipIndex?
    /// Whether the pending operations are reverted at the moment.
    var isReverted = false
    /// The changes of the base state while the pending operations remained applied.
    var edits: BaseEdits?
    /// Whether the pending operations are applied to the current base state, so that the state equals that of the log.
    var isRebased: Bool { !isReverted && edits == nil }
    /// The length up to which a queue is rebased as a whole, because that costs less than to determine the affected
    /// operations.
    package var longQueue = Fold.usualLongQueue
    package static let usualLongQueue = 256
    /// The number of partial rebases after operations ended or changed, for tests.
    package private(set) var partialReplaysOfEnded = 0
    /// The last record that replaces a lost one.
    private var lastLoss: SequenceNumber?
    /// The pending changes of the entities in a response while it is applied.
    var laterChanges: [EntityID: ChangeReferenceCounts] = [:]
    /// The time of the record that is being applied, or nil if it was lost.
    private(set) var time: Timestamp?
    /// The number of entities that the last record of a download removed, including those kept for pending operations.
    package internal(set) var removedByDownload = 0
    /// The changes by operations since the last ``drainDirtySet()``.
    private var touched = DirtySet()

    /// Creates a fold that continues from the content of `storage`.
    public init(storage: WorkingSet) throws(StateError) {
        self.storage = storage
        if let service = try storage.header().service { try adopt(service) }
    }

    /// Creates a fold that continues from the content of `storage`, with its metadata already parsed.
    ///
    /// - Precondition: The metadata of `storage`, if it has any, is that of `model`.
    public init(storage: WorkingSet, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
    }

    /// Applies a record. The state is consistent after ``finishRebase()``, which belongs in the same transaction.
    ///
    /// - Precondition: `sequence` follows the last applied record.
    public mutating func apply(_ record: Record, sequence: SequenceNumber) throws(StateError) {
        time = record.body == .lost ? nil : record.time
        switch record.body {
        case .serviceInstalled(let service): try install(service)
        case .operation(let operation): try apply(operation, sequence: sequence, time: record.time)
        case .definingQueryAdded(let query): try storage.bookkeeping.putQuery(QueryState(query: query))
        case .definingQueryRemoved(let name): try removeQuery(name)
        case .downloadStarted(let queries): try startDownload(queries, run: sequence)
        case .downloadPage(let page): try apply(page, sequence, record.time)
        case .downloadFinished(let finished): try finishDownload(finished, sequence, record.time)
        case .linksLeftOpen(let links): try storage.bookkeeping.putOpenLinks(links)
        case .entitiesQuarantined(let entities): try quarantine(entities, sequence, record.time)
        case .entitiesRead(let images):
            try beginRebase()
            try apply(images)
        case .entitiesMissing(let entities): try remove(entities)
        case .operationsUnfit(let operations): try refuse(operations)
        case .operationsAmended(let operations): try amend(operations)
        case .conflictResolved(let resolved):
            let left = try batches(of: resolved.takenBack + resolved.released)
            try apply(resolved, by: sequence)
            try close(left)
        case .batchPrepared(let prepared): try apply(prepared)
        case .batchAccepted(let accepted): try apply(accepted)
        case .batchAnswered(let answered):
            let operations = answered.outcomes.map(\.operation)
            let left = try batches(of: operations)
            try apply(answered)
            try close(left.union([answered.batch]))
            try noteUpload(answered, sequence, record.time)
        case .batchInterrupted(let interrupted): try apply(interrupted)
        case .operationsReleased(let operations): try release(operations)
        case .operationsUndone(let operations):
            let left = try batches(of: operations)
            try undo(operations, by: sequence)
            try close(left)
        case .operationsRedone(let operations): try redo(operations)
        case .uploadPostponed(let postponed): try postpone(Postponement(postponed, since: record.time))
        case .operationsElided(let operations): try elide(operations)
        case .clientChangesKept(let operations): try ClientChangeFold.keep(operations, in: &self)
        case .deliveryChanged(let operations, let delivery): try setDelivery(operations, delivery)
        case .streamsStored(let images): for image in images { try storage.putStream(image) }
        case .lost:
            // Each further lost record in a row can only have been one more batch.
            if lastLoss == sequence &- 1 { try skipBatch() } else { try applyLoss() }
            lastLoss = sequence
        case .unknown: break
        }
        try storage.changeHeader { $0.applied = sequence }
        try storage.flushIfLarge()
    }

    /// Reapplies the pending operations if they were reverted.
    public mutating func finishRebase() throws(StateError) {
        if let edits, let model, let index {
            var replay = PartialReplay(storage, model, index, edits)
            let count = try storage.pendingCount()
            if try replay.run(limit: longQueue == 0 ? .max : count / 2) {
                self.edits = nil
                if !edits.removed.isEmpty { partialReplaysOfEnded += 1 }
                touched.add(replay.touched)
                return
            }
            try revertPending()
        }
        guard isReverted else { return }
        isReverted = false
        var next: SequenceNumber = 0
        while let page = try page(from: next) {
            for pending in page { try reapply(pending) }
            next = page[page.count - 1].sequence + 1
        }
    }

    private func page(from first: SequenceNumber) throws(StateError) -> [PendingOperation]? {
        let page = try storage.pendingOperations(from: first, limit: 256)
        return page.isEmpty ? nil : page
    }

    /// Applies a pending operation to the current state.
    private mutating func reapply(_ pending: PendingOperation) throws(StateError) {
        let operation = try visible(pending)
        let effect = try editLayer(.local, keepingEffect: true) { e throws(StateError) in
            if let operation { try e.apply(operation) }
        }.effect
        try storage.putEffect(effect, of: pending.sequence)
    }

    /// Returns the changes by operations since the last call, for the cardinality rules.
    public mutating func drainDirtySet() -> DirtySet {
        defer { touched = DirtySet() }
        return touched
    }

    // MARK: Model

    private mutating func install(_ service: ServiceDescription) throws(StateError) {
        try revertPending()
        let former = (model, index)
        var header = try storage.header()
        if let known = header.service, known != service { try forgetServiceLinks() }
        header.service = service
        try storage.setHeader(header)
        try adopt(service)
        if let model { try storage.install(model) }
        if case (let model?, let index?) = former { try migrate(from: model, index) }
        for pending in try storage.pendingOperations() { try register(pending.operation) }
    }

    private mutating func adopt(_ service: ServiceDescription) throws(StateError) {
        let model: EntityDataModel
        do throws(CSDLError) {
            model = try CSDLReader.read(service.metadata)
        } catch {
            throw StateError(.noModel, "The metadata of \(service.root) in the log cannot be parsed: \(error)")
        }
        self.model = model
        index = RelationshipIndex(model)
    }

    /// Changes a layer. Returns the entities of the base state that changed, or that gained or lost a link.
    @discardableResult
    mutating func edit(
        _ layer: StateEditor.Layer, _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) -> Set<EntityID> {
        try editLayer(layer, body).touched
    }

    private mutating func editLayer(
        _ layer: StateEditor.Layer, keepingEffect: Bool = false,
        _ body: (inout StateEditor) throws(StateError) -> Void
    ) throws(StateError) -> (touched: Set<EntityID>, effect: OperationEffect) {
        // Only if the record with the metadata was lost. The entities then have to be downloaded again.
        guard let model, let index else { return ([], OperationEffect()) }
        let kind: StateLayer.Kind = layer == .local ? .local : edits == nil ? .baseWithoutPending : .baseUnderPending
        let layer = StateLayer(storage, index, kind, records: keepingEffect, matches: edits?.matches ?? [:])
        var editor = StateEditor(storage: layer, model: model, index: index)
        // Confirmed operations were validated when they were made, and a download of millions of entities is not
        // tracked.
        if kind == .local { swap(&editor.touched, &touched) }
        defer { if kind == .local { swap(&editor.touched, &touched) } }
        try body(&editor)
        if kind == .baseUnderPending { edits?.add(layer) }
        return (kind == .local ? [] : editor.touched.entities.asSet, layer.effect)
    }

    // MARK: Operations

    private mutating func apply(
        _ operation: Operation, sequence: SequenceNumber, time: Timestamp
    ) throws(StateError) {
        try keepNextEntity(above: operation.createdEntities)
        try register(operation)
        try advance(for: operation)
        let pending = PendingOperation(sequence: sequence, time: time, operation: operation, status: .pending)
        try storage.putPending(pending)
        if isRebased {
            try reapply(pending)
        } else {
            edits?.added.insert(sequence)
        }
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

    /// Prepares a change of the base state: reverts the pending operations or, if there are many, keeps them applied
    /// and tracks the changes below them.
    mutating func beginRebase() throws(StateError) {
        guard isRebased else { return }
        if model != nil, try storage.pendingCount() > longQueue, try storage.hasEffects() {
            edits = BaseEdits()
        } else {
            try revertPending()
        }
    }

    /// Reverts all pending operations, so that every entity and link has its base state.
    mutating func revertPending() throws(StateError) {
        guard !isReverted else { return }
        isReverted = true
        edits = nil
        try storage.removeEffects()
        while true {
            let bases = try storage.drainBases(limit: 1_024)
            if bases.isEmpty { break }
            for (id, base) in bases {
                switch base {
                case .absent: try storage.removeRow(id)
                case .row(let row): try storage.putRow(row)
                }
            }
        }
        for var link in try storage.changedLinks() {
            if link.inBase {
                link.inLocal = true
                try storage.putLink(link)
            } else {
                try storage.removeLink(link.relationship, first: link.first, second: link.second)
            }
        }
    }

    /// Removes a pending operation. It may be added again with other content under the same number.
    mutating func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try storage.removePending(sequence)
        edits?.removed.insert(sequence)
    }

    /// Returns the base state of an entity while records are applied.
    func baseRow(_ id: EntityID) throws(StateError) -> EntityRow? {
        switch try storage.base(id) {
        case .row(let row): row
        case .absent: nil
        case nil: try storage.row(id)
        }
    }

    private func skipBatch() throws(StateError) {
        var header = try storage.header()
        header.nextBatch &+= 1
        try storage.setHeader(header)
    }

    mutating func setStatus(_ sequence: SequenceNumber, _ status: PendingOperation.Status) throws(StateError) {
        guard let (former, then) = try storage.pendingStatus(of: sequence) else { return }
        // The visible part of the operation changes.
        if former.isUnfit != status.isUnfit { try revertPending() }
        try storage.setPendingStatus(
            status, since: former.kind != status.kind ? time ?? then : then, of: sequence)
    }

    /// Changes the delivery of pending and undone operations. Skips operations that ended.
    private func setDelivery(_ sequences: [SequenceNumber], _ delivery: Delivery) throws(StateError) {
        for sequence in sequences {
            if var pending = try storage.pendingOperation(sequence) {
                pending.operation.delivery = delivery
                try storage.putPending(pending)
            } else if var undone = try storage.bookkeeping.undoneOperation(sequence) {
                undone.operation.operation.delivery = delivery
                try storage.bookkeeping.putUndone(undone)
            }
        }
    }

    // MARK: Upload

    private mutating func postpone(_ postponed: Postponement?) throws(StateError) {
        var header = try storage.header()
        guard header.postponed != postponed else { return }
        header.postponed = postponed
        try storage.setHeader(header)
    }

    private mutating func apply(_ answered: BatchAnswered) throws(StateError) {
        if answered.showsService { try postpone(nil) }
        try redo(answered.outcomes.map(\.operation))
        try beginRebase()
        laterChanges = [:]
        defer { laterChanges = [:] }
        for outcome in answered.outcomes {
            guard let pending = try storage.pendingOperation(outcome.operation) else {
                // The operation was lost. The images of the response are valid nevertheless.
                if case .confirmed(let images) = outcome.result { try apply(images) }
                continue
            }
            switch outcome.result {
            case .confirmed(let images): try confirm(pending, images)
            case .rejected(let refusal): try setStatus(outcome.operation, .rejected(refusal))
            case .deferred(let refusal, let attempts):
                try setStatus(outcome.operation, .deferred(refusal, attempts: attempts))
            case .notProcessed: try setStatus(outcome.operation, .pending)
            case .inDoubt(let reason): try setStatus(outcome.operation, .inDoubt(answered.batch, reason: reason))
            }
        }
    }

    private mutating func confirm(_ pending: PendingOperation, _ images: [EntityImage]) throws(StateError) {
        // Removed first, so that the pending changes are those that were made after it.
        try removePending(pending.sequence)
        try uncount(pending)
        let done = try visible(pending)
        let edit = try editBase { e throws(StateError) in
            if let done { try e.apply(done) }
        }
        try keepNextEntity(above: images)
        let returned = pending.operation.call == nil ? [] : try newEntities(in: images)
        let answer =
            images.isEmpty ? [:] : try editBase { e throws(StateError) in try e.apply(images, isAnswer: true) }.before
        try advance(pending.operation, edit.before, answer, images)
        try afterConfirmation(of: pending.operation, edit.touched, images: images, returned: returned)
        try discardMergeBases(of: pending.operation.touchedEntities)
        if let stream = pending.operation.stream {
            // The ETag is not known yet; a separate record follows if the service returns it.
            try storage.putStream(
                StreamImage(entity: pending.operation.subject, property: stream.property, content: stream.content))
        }
    }

    private mutating func afterConfirmation(
        of operation: Operation, _ touched: Set<EntityID>, images: [EntityImage], returned: [EntityID]
    ) throws(StateError) {
        // A new entity belongs to the queries over its set until the next download decides.
        for id in operation.createdEntities + returned {
            guard let set = try storage.set(of: id) else { continue }
            if let model, let own = model.findEntitySet(set), own.isContained {
                for state in try storage.bookkeeping.queries() where try storage.brings(state.query, id, in: own, model)
                {
                    try storage.bookkeeping.coverUndelivered(id, query: state.query.name)
                }
                continue
            }
            for state in try storage.bookkeeping.queries() where QueryTarget(state.query.query).set == set {
                try storage.bookkeeping.coverUndelivered(id, query: state.query.name)
            }
        }
        try assignKeys(operation.createdEntities)
        // A change or a new link also changes the entity's ETag (OData 4.01 Part 1, 8.3.1). If the response does not
        // contain it, the stored ETag is stale.
        let told = Set(images.filter { $0.etag != nil }.map(\.entity))
        var gone: Set<EntityID> = []
        for id in touched.union(operation.referencedEntities).sorted() where !told.contains(id) {
            guard var row = try baseRow(id) else { continue }
            if row.origin == .gone { gone.insert(id) }
            guard row.etag != nil, row.origin == .service else { continue }
            row.origin = .serviceWithStaleETag
            try edit(.base) { e throws(StateError) in try e.put(row) }
        }
        try removeGone(among: gone)
        // Neither a response without a body nor a key that a user entered shows whether the new entity has an ETag.
        for id in operation.createdEntities where !told.contains(id) {
            guard var row = try baseRow(id), row.origin == .service, let type = model?.findEntityType(row.type)
            else {
                continue
            }
            let keys = Set(type.keyProperties.map(\.name))
            if let last = images.last(where: { $0.entity == id }), !keys.isSuperset(of: last.values.names) { continue }
            row.origin = .serviceWithStaleETag
            try edit(.base) { e throws(StateError) in try e.put(row) }
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
            let owner = try storage.entity(set: row.set, key: key).flatMap { id throws(StateError) in
                try baseRow(id)
            }
            if let owner, KeyText.of(owner.values, type: type) == key { continue }
            try storage.assignKey(set: row.set, key: key, to: id)
        }
    }
}

extension BatchAnswered {
    /// Whether the service processed at least one operation, so that a postponement of the upload ends.
    var showsService: Bool {
        outcomes.contains { outcome in
            switch outcome.result {
            case .confirmed, .rejected: true
            case .deferred, .notProcessed, .inDoubt: false
            }
        }
    }
}
