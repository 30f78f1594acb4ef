package import EDM
package import Operations

/// The fold: derives the state from the log by applying one record after the other.
///
/// The current state is a function of the base state, as the service confirmed it, and of the pending operations,
/// applied in order. A new operation is applied to the current state at once. When other records change the base state,
/// the pending operations are reverted and reapplied (``finishRebase()``). Therefore an operation always applies to the
/// newest base state, and a rebuilt state equals one that was updated record by record. In a long queue only the
/// affected operations are reverted, with the same result; see ``PartialReplay``.
///
/// The fold is pure: it uses no clock, no randomness, and no order except that of the log.
package struct Fold {
    var layers: LayeredState
    private var losses = LostRecordFold()
    /// The number of entities that the last record of a download removed, including those kept for pending operations.
    package private(set) var removedByDownload = 0

    package var storage: WorkingSet { layers.storage }
    package var model: EntityDataModel? { layers.model }
    /// The relationships of the model, or nil before a service is installed.
    package var index: RelationshipIndex? { layers.index }
    /// Whether the pending operations are applied to the current base state, so that the state equals that of the log.
    var isRebased: Bool { layers.isRebased }
    /// The length up to which a queue is rebased as a whole, because that costs less than to determine the affected
    /// operations.
    package var longQueue: Int {
        get { layers.longQueue }
        set { layers.longQueue = newValue }
    }
    package static let usualLongQueue = 256
    /// The number of partial rebases after operations ended or changed, for tests.
    package var partialReplaysOfEnded: Int { layers.partialReplaysOfEnded }

    /// Creates a fold that continues from the content of `storage`.
    package init(storage: WorkingSet) throws(StateError) {
        layers = LayeredState(storage)
        if let service = try storage.header().service { try layers.adopt(service) }
    }

    /// Creates a fold that continues from the content of `storage`, with its metadata already parsed.
    ///
    /// - Precondition: The metadata of `storage`, if it has any, is that of `model`.
    package init(storage: WorkingSet, model: EntityDataModel, index: RelationshipIndex) {
        layers = LayeredState(storage, model, index)
    }

    /// Applies a record. The state is consistent after ``finishRebase()``, which belongs in the same transaction.
    ///
    /// - Parameter encoded: The encoded operation of the record, if it has one and the caller has encoded it.
    /// - Precondition: `sequence` follows the last applied record.
    package mutating func apply(
        _ record: Record, sequence: SequenceNumber, encoded: ArraySlice<UInt8>? = nil
    ) throws(StateError) {
        layers.time = record.time
        switch record.body {
        case .serviceInstalled(let service): try install(service)
        case .operation(let operation):
            try layers.add(operation, sequence: sequence, time: record.time, encoded: encoded)
        case .definingQueryAdded(let query): try storage.bookkeeping.putQuery(QueryState(query: query))
        case .definingQueryRemoved(let name):
            var download = DownloadFold(sequence, record.time)
            try download.removeQuery(name, from: &layers)
            removedByDownload += download.removed
        case .downloadStarted(let queries): try QueryBookkeeping(storage: storage).start(queries, run: sequence)
        case .downloadPage(let page):
            var download = DownloadFold(sequence, record.time)
            try download.apply(page, to: &layers)
            removedByDownload = download.removed
        case .downloadFinished(let finished):
            var download = DownloadFold(sequence, record.time)
            try download.finish(finished, in: &layers)
            removedByDownload = download.removed
        case .linksLeftOpen(let links): try storage.bookkeeping.putOpenLinks(links)
        case .entitiesQuarantined(let entities):
            try QuarantineFold(storage: storage).add(entities, sequence, record.time)
        case .entitiesRead(let images):
            try layers.beginRebase()
            try layers.apply(images)
        case .entitiesMissing(let entities): try layers.remove(entities)
        case .operationsIncompatible(let operations): try refuse(operations)
        case .operationsAmended(let operations):
            try QueueFold.change(&layers) { queue, layers throws(StateError) in try queue.amend(operations, in: &layers)
            }
        case .conflictResolved(let resolved):
            let left = try openBatches.containing(resolved.takenBack + resolved.released)
            try apply(resolved, by: sequence)
            try openBatches.close(left)
        case .batchPrepared(let prepared): try apply(prepared)
        case .batchAccepted(let accepted): try openBatches.accept(accepted)
        case .batchAnswered(let answered):
            let operations = answered.operations
            let left = try openBatches.containing(operations)
            try layers.redo(operations)
            try apply(answered)
            try openBatches.close(left.union([answered.batch]))
            try StoreEventFold(storage: storage).addUpload(answered, sequence, record.time)
        case .batchInterrupted(let interrupted): try apply(interrupted)
        case .operationsReleased(let operations): try release(operations)
        case .operationsUndone(let operations):
            let left = try openBatches.containing(operations)
            try undo(operations, by: sequence)
            try openBatches.close(left)
        case .operationsRedone(let operations): try layers.redo(operations)
        case .uploadPostponed(let postponed): try postpone(Postponement(postponed, since: record.time))
        case .operationsElided(let operations):
            try QueueFold.change(&layers) { queue, layers throws(StateError) in try queue.elide(operations, in: &layers)
            }
        case .clientChangesKept(let operations):
            try QueueFold.change(&layers) { queue, layers throws(StateError) in try queue.keep(operations, in: &layers)
            }
        case .deliveryChanged(let operations, let delivery): try setDelivery(operations, delivery)
        case .streamsStored(let images): for image in images { try storage.putStream(image) }
        case .lost:
            layers.time = nil
            try losses.apply(sequence, to: &layers)
        case .unknown: break
        }
        try storage.changeHeader { $0.applied = sequence }
        try storage.flushIfLarge()
    }

    /// Reapplies the pending operations if they were reverted.
    package mutating func finishRebase() throws(StateError) { try layers.finishRebase() }

    /// Returns the changes by operations since the last call, for the cardinality rules. Empty if no end of the model is
    /// mandatory.
    package mutating func drainDirtySet() -> DirtySet { layers.drainDirtySet() }

    // Mutating, because a call of another function on the fold of a store may copy it.

    /// Starts or ends the tracking of the entities whose existing row new operations change or remove.
    package mutating func trackRewrites(_ isOn: Bool) { layers.localLayer?.trackRewrites(isOn) }

    /// Returns the entities since ``trackRewrites(_:)``.
    package mutating func rewrittenEntities() -> EntityIDSet { layers.localLayer?.rewritten ?? [] }

    private mutating func install(_ service: ServiceDescription) throws(StateError) {
        try layers.revertPending()
        let former = (model, index)
        var header = try storage.header()
        if let known = header.service, known != service { try QueryBookkeeping(storage: storage).forgetServiceLinks() }
        header.service = service
        try storage.setHeader(header)
        try layers.adopt(service)
        if let model { try storage.install(model) }
        if case (let oldModel?, let oldIndex?) = former, let model, let index {
            try MetadataFold(storage, from: (oldModel, oldIndex), to: (model, index)).apply(to: &layers)
        }
        for pending in try storage.pendingOperations() { try layers.register(pending.operation) }
        guard let backing = storage.backing else { return }
        try storage.queue.renewSubjects { operation throws(StateError) in
            try storage.subjects(of: operation, backing.model, after: storage.queue.pending)
        }
    }

    private mutating func undo(_ operations: [SequenceNumber], by record: SequenceNumber) throws(StateError) {
        try QueueFold.change(&layers) { queue, layers throws(StateError) in
            try queue.undo(operations, by: record, in: &layers)
        }
    }

    /// Moves operations that no longer fit the metadata to the error archive. The parts that fit stay visible.
    mutating func refuse(_ incompatible: [IncompatibleOperation]) throws(StateError) {
        let left = try openBatches.containing(incompatible.map(\.operation))
        for incompatible in incompatible {
            try layers.setStatus(incompatible.operation, .rejected(incompatible.refusal))
        }
        try openBatches.close(left)
    }

    mutating func apply(_ resolved: ConflictResolved, by record: SequenceNumber) throws(StateError) {
        try layers.beginRebase()
        for part in resolved.dropped {
            guard var pending = try storage.pendingOperation(part.operation),
                case .update(let entity, var changes, var bindings) = pending.operation.action
            else { continue }
            for name in part.properties { changes[name] = nil }
            bindings.removeAll { part.navigations.contains($0.navigation) }
            pending.operation.action = .update(entity, changes: changes, bindings: bindings)
            // Removed first: it may name fewer entities now.
            try layers.removePending(part.operation)
            try storage.putPending(pending)
        }
        try undo(resolved.takenBack, by: record)
        for operation in resolved.released { try layers.setStatus(operation, .pending) }
        try layers.mergeBases.keepUndecided(of: resolved.entity)
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
}
