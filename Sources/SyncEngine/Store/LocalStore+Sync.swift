import EDM
public import ODataWire
public import Operations
public import SyncCore
import Views

/// The store functions for upload rounds, and those for both kinds of rounds. Each call is one transaction.
extension LocalStore {
    // MARK: Upload

    /// Returns the plan of the next batch without logging anything.
    ///
    /// - Parameters:
    ///   - retrying: Refused operations to send again.
    ///   - unreadable: Entities that were just read. Operations do not wait for values of them that are still unknown.
    ///   - service: The service capabilities, or nil for those of the store.
    ///   - upload: The operations to send, and the limits of a batch.
    ///   - reach: Whether the plan contains a reason for every held operation, which requires a pass over the queue.
    public func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = [], service: ServiceOptions? = nil,
        upload: UploadOptions = UploadOptions(), reach: PlanScope = .queue
    ) throws(TidelogError) -> UploadPlan {
        let model = try model
        let given = try serviceOptions
        var options = UploadPlanner<WorkingSet>.Options(
            requestLimit: upload.requestLimit, service: service ?? given, reach: reach)
        options.byteLimit = upload.byteLimit
        options.categories = upload.categories
        options.coalesces = upload.coalesces
        let plan = { () throws(TidelogError) -> UploadPlan in
            try self.read { state throws -> UploadPlan in
                try self.views.reading {
                    try UploadPlanner(storage: state, model: model, options: options).plan(
                        retrying: retrying, unreadable: unreadable)
                }
            }
        }
        let planned = try plan()
        return try remakeViews(ifUnlogged: planned.prepared(as: 0).operations) ? try plan() : planned
    }

    /// Returns the pending operations in order.
    public func pendingOperations() throws(TidelogError) -> [PendingOperation] {
        try read { try $0.pendingOperations() }
    }

    /// Returns the pending operations with this status, in order. Reads no other operations.
    public func pendingOperations(
        _ kind: PendingOperation.Status.Kind
    ) throws(TidelogError) -> [PendingOperation] {
        try read { try $0.pendingOperations(kind) }
    }

    /// Returns the number of pending operations.
    public func pendingCount() throws(TidelogError) -> Int { try read { try $0.pendingCount() } }

    /// Returns the number of operations to send, including refused ones and those in doubt, and the number of
    /// intentionally held ones.
    func queueCounts() throws(TidelogError) -> (queued: Int, heldBack: Int) {
        try read { state in
            let heldBack = try views.heldBackCount()
            return (try state.pendingCount() - heldBack, heldBack)
        }
    }

    /// The last record that the state contains.
    var lastRecord: SequenceNumber {
        get throws(TidelogError) { try read { try $0.header().applied } }
    }

    /// Returns the given operations whose entities no pending operation after the record refers to.
    func operations(
        _ operations: Set<SequenceNumber>, untouchedSince record: SequenceNumber
    ) throws(TidelogError) -> Set<SequenceNumber> {
        try read { state in
            try operations.filter { sequence in
                guard let pending = try state.pendingOperation(sequence) else { return true }
                return try pending.operation.touchedEntities.allSatisfy { id in
                    try state.pendingOperations(naming: id).allSatisfy { $0 <= record }
                }
            }
        }
    }

    /// Logs a batch before it is sent. From here on, a crash leaves its operations in doubt instead of pending. The
    /// record is durable whatever the options are, because a sent batch that was lost would be sent again.
    ///
    /// - Parameters:
    ///   - prepared: The batch, with the number ``nextBatch``.
    ///   - planEpoch: The store's count before planning.
    /// - Returns: False if the plan is outdated and has to be made again. Then nothing is logged.
    func prepare(_ prepared: BatchPrepared, since planEpoch: Int) async throws(TidelogError) -> Bool {
        let isLogged = try transaction { () throws -> Bool in
            guard planEpoch == self.planEpoch, try self.state.header().nextBatch == prepared.batch else { return false }
            try self.rememberInDoubt(prepared.operations)
            try self.add(.batchPrepared(prepared))
            _ = try self.commit()
            return true
        }
        if isLogged { try await makeDurable() }
        return isLogged
    }

    /// Logs that operations have ended because they cancel each other out.
    ///
    /// - Parameter planEpoch: The store's count before planning.
    /// - Returns: The operations, or none if the plan is outdated.
    func elide(_ operations: [SequenceNumber], since planEpoch: Int) async throws(TidelogError) -> [SequenceNumber] {
        let elided = try transaction { () throws -> [SequenceNumber] in
            guard planEpoch == self.planEpoch else { return [] }
            try self.add(.operationsElided(operations.sorted()))
            _ = try self.commit()
            return operations.sorted()
        }
        try await acknowledge()
        return elided
    }

    /// Logs the outcomes of a batch.
    func answer(
        _ answer: UploadAnswer, budget: RetryBudget = RetryBudget()
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let model = try model
        let root = try service?.root ?? ""
        let results = try transaction { () throws -> [BatchAnswered.Outcome] in
            var reconciler = try Reconciler(
                storage: self.state, model: model, serviceRoot: root, options: answer.profile.options,
                retried: answer.retried, doubtful: self.doubtful, budget: budget)
            let results = try reconciler.outcomes(of: answer.batch, answer.outcomes).map {
                $0.amended(by: answer.amended[$0.operation])
            }
            let kept = self.keepingDoubts(results)
            let sent = try self.sentCopies(of: kept.filter(\.isConfirmed).map(\.operation))
            let twins = try DownloadedTwins(confirming: kept, state: self.state, model: model)
            try twins.add(BatchAnswered(batch: answer.batch.number, outcomes: kept), to: self)
            // In the same commit, because the next change of the stream has to send its ETag.
            if kept.contains(where: \.isConfirmed), let stream = answer.batch.streamImage(after: answer.outcomes) {
                try self.add(.streamsStored([stream]))
            }
            try self.recordStreamMetadata(reconciler.streams, sent: answer.batch.createdMediaEntities)
            try self.remove(sent)
            try self.addUnfit(among: kept.filter { !$0.isConfirmed }.map(\.operation))
            _ = try self.commit()
            // Operations that the service did not process can be sent again in the same upload, in doubt or not.
            return zip(results, kept).map { $0.result == .notProcessed ? $0 : $1 }
        }
        try await acknowledge()
        return results
    }

    /// Logs that the batch was not sent or not processed. Its operations are pending again, or in doubt as before.
    func withdraw(_ batch: UploadedBatch) async throws(TidelogError) {
        let outcomes = batch.operations.map { BatchAnswered.Outcome(operation: $0, result: .notProcessed) }
        try transaction { () throws -> Void in
            try self.add(
                .batchAnswered(BatchAnswered(batch: batch.number, outcomes: self.keepingDoubts(outcomes))))
            try self.addUnfit(among: outcomes.map(\.operation))
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that an operation in doubt took effect, with the service's current version of its entity.
    func confirm(
        _ pending: PendingOperation, of batch: BatchID, _ payload: EntityPayload, _ set: EntitySet
    ) async throws(TidelogError) {
        let model = try model
        try transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: self.state, model: model)
            let images = try builder.images(of: payload, in: set, known: pending.operation.subject) ?? []
            // The read is no response: other clients may have changed the entity since, even a new one.
            let outcome = BatchAnswered.Outcome(
                operation: pending.sequence,
                result: .confirmed(
                    images: pending.operation.imagesAsSent(to: pending.operation.createdEntities, images, model)))
            let sent = try self.sentCopies(of: [pending.sequence])
            let twins = try DownloadedTwins(
                of: Set(pending.operation.createdEntities), in: images, state: self.state, model: model)
            try twins.add(BatchAnswered(batch: batch, outcomes: [outcome]), reading: images, to: self)
            try self.recordStreamMetadata(builder.streams)
            try self.remove(sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that operations in doubt took effect together, with the service's current versions of those that were
    /// found.
    ///
    /// - Parameter evidence: The reason as a sentence, and the IDs under which downloads had stored the entities; nil
    ///   if a key or unique value is the proof.
    func confirm(
        _ members: [PendingOperation], of batch: BatchID,
        found: [(operation: SequenceNumber, payload: EntityPayload, set: EntitySet)],
        because evidence: (finding: String, replacing: [EntityID])? = nil
    ) async throws(TidelogError) {
        let model = try model
        try transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: self.state, model: model)
            var read: [EntityImage] = []
            for (operation, payload, set) in found {
                let subject = members.first { $0.sequence == operation }?.operation.subject
                read += try builder.images(of: payload, in: set, known: subject) ?? []
            }
            let created = members.flatMap(\.operation.createdEntities)
            let outcomes = members.map { member in
                BatchAnswered.Outcome(
                    operation: member.sequence,
                    result: .confirmed(images: member.operation.imagesAsSent(to: created, read, model)))
            }
            let sent = try self.sentCopies(of: members.map(\.sequence))
            if let evidence { try self.addEvidence(evidence.finding, for: members) }
            let twins = try DownloadedTwins(
                of: Set(created), in: read, and: evidence?.replacing ?? [], state: self.state, model: model)
            try twins.add(BatchAnswered(batch: batch, outcomes: outcomes), reading: read, to: self)
            try self.recordStreamMetadata(builder.streams)
            try self.remove(sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that operations in doubt took effect, without reading their entities.
    ///
    /// - Parameter images: The user's statements about the created entities.
    func confirm(
        _ operations: [SequenceNumber], of batch: BatchID, images: [SequenceNumber: [EntityImage]]
    ) async throws(TidelogError) {
        let outcomes = operations.map {
            BatchAnswered.Outcome(operation: $0, result: .confirmed(images: images[$0] ?? []))
        }
        try transaction { () throws -> Void in
            let sent = try self.sentCopies(of: operations)
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
            try self.remove(sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    // MARK: References

    /// Returns the service's reference to an entity, with its set, or nil while it has no key.
    func serviceReference(_ id: EntityID) throws(TidelogError) -> (reference: ResourceReference, set: EntitySet)? {
        let model = try model
        return try read { state throws -> (reference: ResourceReference, set: EntitySet)? in
            let resolver = EntityResolver(storage: state, model: model)
            guard let row = try resolver.serviceRow(id), let set = model.findEntitySet(row.set),
                let reference = resolver.reference(row)
            else { return nil }
            return (reference, set)
        }
    }

    /// Returns the known entities that the service has linked to this one.
    func partners(of id: EntityID) throws(TidelogError) -> [EntityID] {
        try read { state in
            Set(try state.links(of: id).filter(\.inBase).map { $0.first == id ? $0.second : $0.first }).sorted()
        }
    }

    /// Returns the navigation properties of an entity that lead to entities whose keys the service has not returned.
    func navigationsToKeylessEntities(of id: EntityID) throws(TidelogError) -> [String] {
        let model = try model
        return try read { state throws -> [String] in
            guard let row = try state.row(id), let type = model.findEntityType(row.type) else { return [] }
            let query = RowQuery(state: try views, model: model)
            return try type.navigationProperties.filter { property in
                try query.targets(of: row, property).contains { target in
                    target.origin.isOnService
                        && model.findEntityType(target.type).map { KeyText.of(target.values, type: $0) == nil } ?? false
                }
            }.map(\.name)
        }
    }
}

extension Operation {
    /// Returns the images of new entities at the time when the operation took effect, as far as they can be
    /// reconstructed: the key and the sent values. They precede the current images, which other clients may have
    /// changed since.
    ///
    /// - Parameters:
    ///   - created: The new entities.
    ///   - read: The service's current versions.
    fileprivate func imagesAsSent(
        to created: [EntityID], _ read: [EntityImage], _ model: EntityDataModel
    ) -> [EntityImage] {
        // The declared effect was not sent.
        guard call == nil else { return [] }
        let sent: PropertyValues
        switch action {
        case .create(let creation, _): sent = creation.values
        case .update(_, let changes, _): sent = changes
        case .delete, .createLink, .updateLink, .deleteLink: return []
        }
        guard created.contains(subject), let now = read.first(where: { $0.entity == subject }) else { return [] }
        var values = sent
        for key in model.findEntityType(now.type)?.keyProperties ?? [] {
            if let value = now.values[key.name] { values[key.name] = value }
        }
        return [EntityImage(entity: now.entity, set: now.set, type: now.type, values: values)]
    }
}
