public import EDM
public import Operations
import ODataWire

/// State is the fold of the log: this applies one record after another.
///
/// The local state is a function of the base (what the service last said) and of the pending operations, applied in order.
/// A local operation is applied on top at once. When facts have changed the base, the pending operations are taken off and
/// applied anew (``settle()``). So an operation sees the newest base, and a rebuilt state equals one that grew. Of a long
/// queue only those are that the change reaches, which comes to the same; see ``PartialReplay``.
///
/// Pure: no clock, no randomness, no order but that of the log.
public struct Fold {
    public let storage: WorkingSet
    public private(set) var model: EntityDataModel?
    /// The model's relationships; nil before a service is installed.
    public private(set) var index: RelationshipIndex?
    /// Whether the pending operations are taken off at the moment.
    var isUnwound = false
    /// What changed below the pending operations while they stayed on top.
    var edits: BaseEdits?
    /// Whether the pending operations are on top, and applied to what is below them: the state is what the log says.
    var isSettled: Bool { !isUnwound && edits == nil }
    /// Shorter queues are taken off and put back as a whole: that is less work than to know what has to be.
    package var longQueue = Fold.usualLongQueue
    package static let usualLongQueue = 256
    /// How often operations ended, or became others, and only those that this reaches were applied anew: for tests.
    package private(set) var partialReplaysOfEnded = 0
    /// The last record that stands for a lost one.
    private var lastLoss: SequenceNumber?
    /// What is still pending on the entities that an answer is about, while it is applied.
    var laterChanges: [EntityID: ChangeTally] = [:]
    /// When the record that is applied was made; nil for one that was lost.
    private(set) var time: Timestamp?
    /// How many entities the last record of a download took out, those on which operations are pending included.
    package internal(set) var removedByDownload = 0
    /// What the operations since the last ``takeTouched()`` changed.
    private var touched = Touched()

    /// Continues from what `storage` holds.
    public init(storage: WorkingSet) throws(StateError) {
        self.storage = storage
        if let service = try storage.header().service { try adopt(service) }
    }

    /// Continues from what `storage` holds, with its metadata parsed already.
    ///
    /// - Precondition: the metadata of `storage`, if it has any, are those of `model`.
    public init(storage: WorkingSet, model: EntityDataModel, index: RelationshipIndex) {
        self.storage = storage
        self.model = model
        self.index = index
    }

    /// Applies a record. The state is whole again after ``settle()``, which belongs into the same transaction.
    ///
    /// - Precondition: `sequence` is the one after the last applied.
    public mutating func apply(_ record: Record, sequence: SequenceNumber) throws(StateError) {
        time = record.body == .lost ? nil : record.time
        switch record.body {
        case .serviceInstalled(let service): try install(service)
        case .operation(let operation): try apply(operation, sequence: sequence, time: record.time)
        case .definingQueryAdded(let query): try storage.putQuery(QueryState(query: query))
        case .definingQueryRemoved(let name): try removeQuery(name)
        case .downloadStarted(let queries): try startDownload(queries, run: sequence)
        case .downloadPage(let page): try apply(page, sequence, record.time)
        case .downloadFinished(let finished): try finishDownload(finished, sequence, record.time)
        case .linksLeftOpen(let links): try storage.putOpenLinks(links)
        case .entitiesQuarantined(let entities): try quarantine(entities, sequence, record.time)
        case .entitiesRead(let images):
            try unwind()
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
        case .deliveryChanged(let operations, let delivery): try setDelivery(operations, delivery)
        case .streamsStored(let images): for image in images { try storage.keep(image) }
        case .lost:
            // Each further one in a row says what the first has said, but for the batch that it may have been.
            if lastLoss == sequence &- 1 { try skipBatch() } else { try applyLoss() }
            lastLoss = sequence
        case .unknown: break
        }
        try storage.changeHeader { $0.applied = sequence }
        try storage.flushIfLarge()
    }

    /// Puts the pending operations back on top, if they were taken off.
    public mutating func settle() throws(StateError) {
        if let edits, let model, let index {
            var replay = PartialReplay(storage, model, index, edits)
            let count = try storage.pendingCount()
            if try replay.run(limit: longQueue == 0 ? .max : count / 2) {
                self.edits = nil
                if !edits.removed.isEmpty { partialReplaysOfEnded += 1 }
                touched.add(replay.touched)
                return
            }
            try unwindAll()
        }
        guard isUnwound else { return }
        isUnwound = false
        var next: SequenceNumber = 0
        while let page = try page(from: next) {
            for pending in page { try putOnTop(pending) }
            next = page[page.count - 1].sequence + 1
        }
    }

    private func page(from first: SequenceNumber) throws(StateError) -> [PendingOperation]? {
        let page = try storage.pendingOperations(from: first, limit: 256)
        return page.isEmpty ? nil : page
    }

    /// Applies a pending operation to the local state.
    private mutating func putOnTop(_ pending: PendingOperation) throws(StateError) {
        let operation = try visible(pending)
        let effect = try editLayer(.local, keepingEffect: true) { e throws(StateError) in
            if let operation { try e.apply(operation) }
        }.effect
        try storage.putEffect(effect, of: pending.sequence)
    }

    /// What the operations applied since the last call changed, for the rules to look at.
    public mutating func takeTouched() -> Touched {
        defer { touched = Touched() }
        return touched
    }

    // MARK: Model

    private mutating func install(_ service: ServiceDescription) throws(StateError) {
        try unwindAll()
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
            throw StateError(.noModel, "The metadata of \(service.root) in the log does not parse: \(error)")
        }
        self.model = model
        index = RelationshipIndex(model)
    }

    /// Returns what was changed, created or lost a link.
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
        // Only where the record with the metadata was lost: what needs them has to be downloaded again.
        guard let model, let index else { return ([], OperationEffect()) }
        let kind: StateLayer.Kind = layer == .local ? .local : edits == nil ? .bareBase : .coveredBase
        let layer = StateLayer(storage, index, kind, records: keepingEffect, matches: edits?.matches ?? [:])
        var editor = StateEditor(storage: layer, model: model, index: index)
        // What comes true was looked at when it was made; a download of millions need not be remembered.
        if kind == .local { swap(&editor.touched, &touched) }
        defer { if kind == .local { swap(&editor.touched, &touched) } }
        try body(&editor)
        if kind == .coveredBase { edits?.add(layer) }
        return (kind == .local ? [] : editor.touched.entities, layer.effect)
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
        if isSettled {
            try putOnTop(pending)
        } else {
            edits?.added.insert(sequence)
        }
    }

    /// What an operation creates is known from now on, also where it is undone before it is ever applied.
    func register(_ operation: Operation) throws(StateError) {
        if case .create(let creation, _) = operation.action { try register(creation) }
    }

    private func register(_ creation: Creation) throws(StateError) {
        guard model?.findEntitySet(creation.set) != nil, model?.findEntityType(creation.type) != nil else { return }
        try storage.register(creation.entity, set: creation.set)
        for inline in creation.inline { for child in inline.entities { try register(child) } }
    }

    /// Makes the base ready to be changed: takes the pending operations off, or, where they are many, lets them stay on top
    /// and remembers what changes below them.
    mutating func unwind() throws(StateError) {
        guard isSettled else { return }
        if model != nil, try storage.pendingCount() > longQueue, try storage.hasEffects() {
            edits = BaseEdits()
        } else {
            try unwindAll()
        }
    }

    /// Takes the pending operations off: every entity and link is as the service last said.
    mutating func unwindAll() throws(StateError) {
        guard !isUnwound else { return }
        isUnwound = true
        edits = nil
        try storage.removeEffects()
        while true {
            let bases = try storage.takeBases(limit: 1_024)
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

    /// The operation is no longer on top. It may come back as another one under the same number.
    mutating func removePending(_ sequence: SequenceNumber) throws(StateError) {
        try storage.removePending(sequence)
        edits?.removed.insert(sequence)
    }

    /// The entity as the service last said, while facts are taken in.
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
        // More or less of it is to be seen.
        if former.isUnfit != status.isUnfit { try unwindAll() }
        try storage.setPendingStatus(
            status, since: former.kind != status.kind ? time ?? then : then, of: sequence)
    }

    /// What ended is left alone. What was undone comes back with it.
    private func setDelivery(_ sequences: [SequenceNumber], _ delivery: Delivery) throws(StateError) {
        for sequence in sequences {
            if var pending = try storage.pendingOperation(sequence) {
                pending.operation.delivery = delivery
                try storage.putPending(pending)
            } else if var undone = try storage.undoneOperation(sequence) {
                undone.operation.operation.delivery = delivery
                try storage.putUndone(undone)
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
        try unwind()
        laterChanges = [:]
        defer { laterChanges = [:] }
        for outcome in answered.outcomes {
            guard let pending = try storage.pendingOperation(outcome.operation) else {
                // The operation was lost. What the service said of its entities holds all the same.
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
        // First: what is pending still is what was made after it.
        try removePending(pending.sequence)
        try uncount(pending)
        let done = try visible(pending)
        let edit = try editBase { e throws(StateError) in
            if let done { try e.apply(done) }
        }
        try keepNextEntity(above: images)
        let answer =
            images.isEmpty ? [:] : try editBase { e throws(StateError) in try e.apply(images, isAnswer: true) }.before
        try advance(pending.operation, edit.before, answer, images)
        try afterConfirmation(of: pending.operation, edit.touched, images: images)
        try forgetAncestors(of: pending.operation.touchedEntities)
        if let stream = pending.operation.stream {
            // The service has told no ETag yet; a record of its own follows where it does.
            try storage.keep(
                StreamImage(entity: pending.operation.subject, property: stream.property, content: stream.content))
        }
    }

    private mutating func afterConfirmation(
        of operation: Operation, _ touched: Set<EntityID>, images: [EntityImage]
    ) throws(StateError) {
        // What was created here belongs to the queries over its set from now on; the next download decides.
        for id in operation.createdEntities {
            guard let set = try storage.set(of: id) else { continue }
            if let model, let own = model.findEntitySet(set), own.isContained {
                for state in try storage.queries() where try storage.brings(state.query, id, in: own, model) {
                    try storage.cover(id, query: state.query.name, run: 0)
                }
                continue
            }
            for state in try storage.queries() where QueryTarget(state.query.query).set == set {
                try storage.cover(id, query: state.query.name, run: 0)
            }
        }
        try assignKeys(operation.createdEntities)
        // A change or a new link also changes the entity's ETag (OData 4.01 Part 1, 8.3.1), and an answer without it leaves us
        // with an old one.
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
        // An answer without a body does not tell whether the new entity has an ETag, nor does somebody who tells its key.
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

    /// A key that the app gave and that no answer told is the entity's from now on, unless another one is there with it:
    /// who had it once has it no more.
    private func assignKeys(_ created: [EntityID]) throws(StateError) {
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
    /// Whether the service got through to at least one operation, so that nothing need be put off any more.
    var showsService: Bool {
        outcomes.contains { outcome in
            switch outcome.result {
            case .confirmed, .rejected: true
            case .deferred, .notProcessed, .inDoubt: false
            }
        }
    }
}
