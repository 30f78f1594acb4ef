import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore

/// The result of an upload.
struct PureUpload {
    var batches = 0
    var refusals: [Refusal] = []
    var doubts: [String] = []
}

/// The steps of the engine's upload round.
extension PureSession {
    /// Sends batches until no more operations can be sent.
    mutating func push() throws -> PureUpload {
        var upload = PureUpload()
        var retrying: Set<SequenceNumber> = []
        for case .rejected in try state.pendingOperations().map(\.status) {
            retrying = Set(
                try state.pendingOperations().filter { if case .rejected = $0.status { true } else { false } }
                    .map(\.sequence))
            break
        }
        while true {
            try settleConflicts()
            let plan = try nextPlan(retrying)
            guard plan.elided.isEmpty else {
                try log(.operationsElided(plan.elided.sorted()))
                continue
            }
            guard !plan.isEmpty else {
                if try settleConflicts() { continue }
                return upload
            }
            let outcomes = try send(plan)
            upload.batches += 1
            for outcome in outcomes {
                retrying.remove(outcome.operation)
                switch outcome.result {
                case .rejected(let refusal): upload.refusals.append(refusal)
                case .inDoubt(let reason): upload.doubts.append(reason)
                case .confirmed, .deferred, .notProcessed: break
                }
            }
            guard outcomes.contains(where: { $0.result != .notProcessed }) else { return upload }
        }
    }

    /// Resolves conflicts in favor of the pending operations.
    @discardableResult
    private mutating func settleConflicts() throws -> Bool {
        var hasSettled = false
        for conflict in try ConflictFinder(storage: state, model: model, index: index).conflicts() {
            guard let (resolution, decision) = ConflictPolicy.clientWins.resolution(of: conflict),
                let outcome = try conflict.outcome(resolution, decision, pending: state.pendingOperations())
            else { continue }
            try log(.conflictResolved(outcome.record))
            hasSettled = true
        }
        return hasSettled
    }

    private mutating func nextPlan(_ retrying: Set<SequenceNumber>) throws -> UploadPlan {
        var options = UploadPlanner.Options()
        options.coalesces = coalesces
        let planner = UploadPlanner(storage: state, model: model, options: options)
        let plan = try planner.plan(retrying: retrying)
        guard !plan.entitiesToRead.isEmpty else { return plan }
        var unreadable: Set<EntityID> = []
        for id in plan.entitiesToRead where try !read(id) { unreadable.insert(id) }
        return try planner.plan(retrying: retrying, unreadable: unreadable)
    }

    private mutating func send(_ plan: UploadPlan) throws -> [BatchAnswered.Outcome] {
        let number = try state.header().nextBatch
        let prepared = plan.prepared(as: number)
        try log(.batchPrepared(prepared))
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
        let sent = UploadedBatch(plan, number: number) { encoder.encode($0.modification) }
        let body = try MultipartBatchWriter().write(sent.request, boundary: "b\(number)") { "c\(number)_\($0)" }
        var headers = encoder.headers
        headers["Content-Type"] = MultipartBatchWriter.contentType(boundary: "b\(number)")
        let response = sandbox.handle(
            WireRequest(method: "POST", url: "/\(dialect.rawValue)/$batch", headers: headers, body: body))
        let answer = try MultipartBatchReader().readResponse(
            response.body, contentType: response.headers["Content-Type"] ?? "")
        let outcomes = BatchMatcher(request: sent.request, response: answer).outcomes().map {
            if case .changeSet(let outcome) = $0 { outcome } else { ChangeSetOutcome.notProcessed }
        }
        var reconciler = try Reconciler(storage: state, model: model, serviceRoot: root)
        let results = try reconciler.outcomes(of: sent.answered(outcomes))
        try verify(results, prepared, sent, outcomes)
        try log(.batchAnswered(BatchAnswered(batch: number, outcomes: results)))
        try readMissingValues(plan, results)
        return results
    }

    /// Checks that the response would have been reconciled in the same way after a restart, when only the log describes
    /// the batch.
    private func verify(
        _ results: [BatchAnswered.Outcome], _ prepared: BatchPrepared, _ sent: UploadedBatch,
        _ outcomes: [ChangeSetOutcome]
    ) throws {
        var logged = try LoggedBatchReader(storage: state, model: model).batch(
            prepared, prepared.changeSets.indices)
        logged.complete(from: sent)
        var reconciler = try Reconciler(storage: state, model: model, serviceRoot: root)
        let again = try reconciler.outcomes(of: logged.answered(outcomes))
        guard again != results else { return }
        throw LoggedBatchMismatch(results: results, logged: again)
    }

    private mutating func readMissingValues(_ plan: UploadPlan, _ outcomes: [BatchAnswered.Outcome]) throws {
        let confirmed = Set(
            outcomes.filter { if case .confirmed = $0.result { true } else { false } }.map(\.operation))
        for request in plan.changeSets.flatMap(\.requests) where confirmed.contains(request.operation) {
            guard let id = request.creates, let row = try state.row(id), let type = model.findEntityType(row.type)
            else {
                continue
            }
            let missing = try type.navigationProperties.filter { property in
                guard !property.isCollection, let end = property.navigation else { return false }
                return try state.targets(of: id, along: end).compactMap { try state.row($0) }.contains { target in
                    target.origin.isOnService
                        && model.findEntityType(target.type).map { KeyText.of(target.values, type: $0) == nil } ?? false
                }
            }
            if !missing.isEmpty { try read(id, expand: missing.map(\.name)) }
        }
    }

    @discardableResult
    mutating func read(_ id: EntityID, expand: [String] = []) throws -> Bool {
        let resolver = EntityResolver(storage: state, model: model)
        guard let row = try resolver.serviceRow(id), let set = model.findEntitySet(row.set),
            let reference = try resolver.reference(row)
        else { return false }
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
        let suffix = expand.isEmpty ? "" : "?$expand=" + expand.joined(separator: ",")
        let response = sandbox.handle(
            WireRequest(
                method: "GET", url: "/\(dialect.rawValue)/" + encoder.url(of: reference) + suffix,
                headers: encoder.headers))
        guard response.isSuccess else { return false }
        let payload = try PayloadReader(version: model.version, model: model).entity(
            response.body, type: set.entityType)
        var builder = try ImageBuilder(storage: state, model: model)
        try log(.entitiesRead(builder.images(of: payload, in: set, known: id) ?? []))
        return true
    }
}

/// The outcomes of a batch differ if only the log describes it.
struct LoggedBatchMismatch: Error {
    let results: [BatchAnswered.Outcome]
    let logged: [BatchAnswered.Outcome]
}
