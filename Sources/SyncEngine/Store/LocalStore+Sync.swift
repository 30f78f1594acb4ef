import EDM
public import ODataWire
public import Operations
public import SyncCore
import Views

/// What the upload rounds ask of the store, and what both rounds do. Each call is one transaction.
extension LocalStore {
    // MARK: Upload

    /// What the next batch would hold; nothing is logged.
    ///
    /// - Parameters:
    ///   - retrying: refused operations that are to be sent once more.
    ///   - unreadable: entities that were read just now; what is not known of them still is not waited for.
    ///   - service: what the service lacks; nil for what the store goes by.
    ///   - upload: what is to be sent, and how much in one batch.
    ///   - reach: whether the plan says why each operation that stays behind does, which costs a pass over the queue.
    public func plan(
        retrying: Set<SequenceNumber> = [], unreadable: Set<EntityID> = [], service: ServiceOptions? = nil,
        upload: UploadOptions = UploadOptions(), reach: PlanReach = .queue
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

    /// The operations that have not ended, in order.
    public func pendingOperations() throws(TidelogError) -> [PendingOperation] {
        try read { try $0.pendingOperations() }
    }

    /// Those of them that are in that status, in order. Looks at no others.
    public func pendingOperations(
        _ kind: PendingOperation.Status.Kind
    ) throws(TidelogError) -> [PendingOperation] {
        try read { try $0.pendingOperations(kind) }
    }

    /// How many operations have not ended.
    public func pendingCount() throws(TidelogError) -> Int { try read { try $0.pendingCount() } }

    /// How many operations are to be sent, refused and doubtful ones included, and how many are kept here on purpose.
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

    /// Those of the operations of whose entities none is named by a pending operation that was made after the record.
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

    /// Logs what is about to be sent; from here on a crash leaves these operations in doubt, not pending.
    /// Durable whatever the options say: a batch that was sent and is forgotten would be sent again.
    ///
    /// - Parameters:
    ///   - sent: the requests in their final form, where the service knows them again when they come again.
    ///   - rearrangements: what the store's count was before the plan was made.
    ///   - fingerprint: of what goes out under the number.
    /// - Returns: nil where the plan no longer holds: plan again.
    func prepare(
        _ plan: UploadPlan, sent: [[BatchPrepared.SentRequest]] = [], since rearrangements: Int,
        fingerprint: @Sendable (BatchID) -> BatchPrepared.Fingerprint? = { _ in nil }
    ) async throws(TidelogError) -> BatchID? {
        let batch = try transaction { () throws -> BatchID? in
            guard rearrangements == self.rearrangements else { return nil }
            let batch = try self.state.header().nextBatch
            var prepared = plan.prepared(as: batch)
            prepared.sent = sent
            prepared.fingerprint = fingerprint(batch)
            try self.noteDoubts(prepared.operations)
            try self.add(.batchPrepared(prepared))
            _ = try self.commit()
            return batch
        }
        guard let batch else { return nil }
        try await makeDurable()
        return batch
    }

    /// Logs that operations have ended because they cancel each other out.
    ///
    /// - Parameter rearrangements: what the store's count was before the plan was made that says so.
    /// - Returns: the operations; none where the plan no longer holds.
    func elide(_ operations: [SequenceNumber], since rearrangements: Int) async throws(TidelogError) -> [SequenceNumber]
    {
        let elided = try transaction { () throws -> [SequenceNumber] in
            guard rearrangements == self.rearrangements else { return [] }
            try self.add(.operationsElided(operations.sorted()))
            _ = try self.commit()
            return operations.sorted()
        }
        try await acknowledge()
        return elided
    }

    /// Logs what the service made of a batch.
    ///
    /// - Parameters:
    ///   - options: those that the plan was made with.
    ///   - amended: what is known better of operations that the service has refused, or not come to.
    func answer(
        _ batch: BatchID, _ plan: UploadPlan, requests: [[WireRequest]], _ outcomes: [ChangeSetOutcome],
        retried: Set<SequenceNumber>, options: ServiceOptions, budget: RetryBudget = RetryBudget(),
        amended: [SequenceNumber: BatchAnswered.Result] = [:]
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let model = try model
        let root = try service?.root ?? ""
        let results = try transaction { () throws -> [BatchAnswered.Outcome] in
            var reconciler = try Reconciler(
                storage: self.state, model: model, serviceRoot: root, options: options, retried: retried,
                doubtful: self.doubtful, budget: budget)
            let results = try reconciler.outcomes(of: plan, requests: requests, outcomes).map {
                $0.amended(by: amended[$0.operation])
            }
            let kept = self.keepingDoubts(results)
            let sent = try self.sentStreams(of: kept.filter(\.isConfirmed).map(\.operation))
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: kept)))
            // In the same commit: the next change of the stream has to carry its ETag.
            if kept.contains(where: \.isConfirmed), let stream = plan.streamImage(after: outcomes) {
                try self.add(.streamsStored([stream]))
            }
            try self.keepTold(reconciler.streams, sent: plan.createdMediaEntities)
            try self.removeCopies(of: sent)
            try self.addUnfit(among: kept.filter { !$0.isConfirmed }.map(\.operation))
            _ = try self.commit()
            // What the service did not come to can go again in the same upload, in doubt or not.
            return zip(results, kept).map { $0.result == .notProcessed ? $0 : $1 }
        }
        try await acknowledge()
        return results
    }

    /// The batch did not leave, or was not looked at: its operations are pending again, or in doubt as they were.
    func withdraw(_ batch: BatchID, _ plan: UploadPlan) async throws(TidelogError) {
        let outcomes = plan.prepared(as: batch).operations.map {
            BatchAnswered.Outcome(operation: $0, result: .notProcessed)
        }
        try transaction { () throws -> Void in
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: self.keepingDoubts(outcomes))))
            try self.addUnfit(among: outcomes.map(\.operation))
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that an operation in doubt turned out to be done, with what the service holds of its entity.
    func confirm(
        _ pending: PendingOperation, of batch: BatchID, _ payload: EntityPayload, _ set: EntitySet
    ) async throws(TidelogError) {
        let model = try model
        try transaction { () throws -> Void in
            var builder = try ImageBuilder(storage: self.state, model: model)
            let images = try builder.images(of: payload, in: set, known: pending.operation.subject) ?? []
            // What was read is no answer: others may have changed the entity meanwhile, a new one as well.
            let outcome = BatchAnswered.Outcome(
                operation: pending.sequence,
                result: .confirmed(
                    images: pending.operation.imagesAsSent(to: pending.operation.createdEntities, images, model)))
            let sent = try self.sentStreams(of: [pending.sequence])
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: [outcome])))
            try self.add(.entitiesRead(images))
            try self.keepTold(builder.streams)
            try self.removeCopies(of: sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that operations in doubt that took effect together did, with what the service holds of those that were found.
    ///
    /// - Parameter evidence: a sentence, and the entities as which downloads have brought those that were found; nil if a key
    ///   or a unique value tells it.
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
            let sent = try self.sentStreams(of: members.map(\.sequence))
            if let evidence {
                try self.addEvidence(evidence.finding, for: members)
                // One entity of the service is one entity here.
                if !evidence.replacing.isEmpty { try self.add(.entitiesMissing(evidence.replacing)) }
            }
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
            try self.add(.entitiesRead(read))
            try self.keepTold(builder.streams)
            try self.removeCopies(of: sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Logs that operations in doubt took effect, of which nothing was read.
    ///
    /// - Parameter images: what somebody said of the entities that they created.
    func confirm(
        _ operations: [SequenceNumber], of batch: BatchID, images: [SequenceNumber: [EntityImage]]
    ) async throws(TidelogError) {
        let outcomes = operations.map {
            BatchAnswered.Outcome(operation: $0, result: .confirmed(images: images[$0] ?? []))
        }
        try transaction { () throws -> Void in
            let sent = try self.sentStreams(of: operations)
            try self.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
            try self.removeCopies(of: sent)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    // MARK: References

    /// How the service knows an entity, with its set; nil while it has no key.
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

    /// The entities that the service has linked to this one, as far as it is known.
    func partners(of id: EntityID) throws(TidelogError) -> [EntityID] {
        try read { state in
            Set(try state.links(of: id).filter(\.inBase).map { $0.first == id ? $0.second : $0.first }).sorted()
        }
    }

    /// The navigation properties of an entity that lead to entities whose key the service has not told.
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
    /// What the service made of a new entity when the operation took effect, as far as that can be known later: its key, and what
    /// was sent. It stands below what was read, which others may have changed since.
    ///
    /// - Parameters:
    ///   - created: the entities that were new.
    ///   - read: what the service has now.
    fileprivate func imagesAsSent(
        to created: [EntityID], _ read: [EntityImage], _ model: EntityDataModel
    ) -> [EntityImage] {
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
