import EDM
import ODataWire
import Operations
import SyncCore

/// One upload: it sends batches until no operation can be sent any more. The steps of each batch are
///
/// plan → *prepared* into the log → send → match → reconcile → *answered* into the log.
///
/// Afterwards the upload reads values that the response omitted, such as an ETag or the key of an entity that was
/// created below another.
///
/// Its async functions are not optimized, since they wait for the network anyway: the optimizer of Swift 6.3.1 crashes
/// on loops that await throwing calls.
struct UploadRound {
    let store: LocalStore
    let session: ServiceSession
    var upload = UploadOptions()

    /// The model and service options of one plan. Later changes apply to the next plan.
    struct ServiceProfile {
        let model: EntityDataModel
        var options: ServiceOptions
    }

    /// Runs the upload.
    ///
    /// - Parameter refused: Operations that this upload has already seen refused and does not send again.
    @_optimize(none)
    func run(refused: Set<SequenceNumber> = []) async throws(TidelogError) -> UploadReport {
        var report = UploadReport()
        await store.beginUpload()
        do throws(TidelogError) {
            try await run(&report, refused: refused)
            await store.endUpload()
        } catch {
            await store.endUpload()
            try? await reportRemaining(&report)
            throw error.after(report)
        }
        return report
    }

    @_optimize(none)
    private func run(_ report: inout UploadReport, refused: Set<SequenceNumber>) async throws(TidelogError) {
        // A batch whose response could not be logged, for example because the disk was full, would otherwise stay in
        // flight for ever.
        try await store.interruptOpenBatches()
        var state = newState()
        try await pollAcceptedBatches(&state, &report)
        state.suspects = try await resolveInDoubt(&state, &report)
        // Operations refused earlier are tried once more. Those refused now wait for the next upload.
        state.retrying = Set(
            try await store.pendingOperations(.rejected).map(\.sequence).filter(upload.refused.takes)
        ).subtracting(refused)
        // Deferred operations are retried without any action of the app.
        let deferred = try await store.pendingOperations(.deferred)
        state.retrying.formUnion(deferred.map(\.sequence))
        // Operations still in doubt whose request is idempotent are sent again as they are, unless the service is
        // still processing them.
        let doubtful = try await store.pendingOperations(.inDoubt).map(\.sequence)
        let awaited = try await store.awaitedOperations().values.joined()
        state.retrying.formUnion(Set(doubtful).subtracting(report.inDoubt).subtracting(awaited))
        // The outstanding responses at the start already count for this upload.
        state.retrying.subtract(report.rejected.map(\.operation))
        state.retrying.subtract(report.deferred.map(\.operation))
        state.deferrals = Dictionary(deferred.map { ($0.sequence, $0.deferrals) }) { $1 }
        while true {
            try await state.conflicts.applyPolicy(&report)
            let planEpoch = await store.planEpoch
            let serviceProfile = try await serviceProfile(state)
            let plan = try await nextPlan(retrying: state.retrying, serviceProfile.options)
            guard plan.elided.isEmpty else {
                report.elided += try await store.elide(plan.elided, since: planEpoch)
                continue
            }
            guard !plan.isEmpty else {
                // Reading for the plan may have revealed changes of other clients.
                if try await state.conflicts.applyPolicy(&report) { continue }
                if try await awaitAccepted(&state, &report) { continue }
                if try await readNeighborKeys(plan.held.values, &state) { continue }
                // Operations that no simpler form can express are sent in the original form, so that the service's
                // own refusal is recorded.
                if state.forms.giveUp() { continue }
                break
            }
            // A service that never processes anything must not keep the upload running for ever.
            guard try await send(plan, since: planEpoch, serviceProfile, &state, &report) else { break }
        }
        try await finish(state, &report)
    }

    /// Completes the report, and throws the error that blocked a part of the upload.
    @_optimize(none)
    private func finish(_ state: UploadState, _ report: inout UploadReport) async throws(TidelogError) {
        report.awaited = try await store.awaitedOperations().sorted { $0.key < $1.key }.map { batch, operations in
            AwaitedBatch(operations: operations, reason: state.reasons[batch] ?? "The service works on it")
        }
        report.setUndecided(conflicts: try await store.conflicts())
        try await reportRemaining(&report)
        if let obstacle = state.obstacle { throw obstacle }
    }

    /// Sets the remaining operations of the report. Also called after an error, because operations that have just
    /// become in doubt are not among the outcomes.
    @_optimize(none)
    private func reportRemaining(_ report: inout UploadReport) async throws(TidelogError) {
        let awaited = Set(try await store.awaitedOperations().values.joined())
        report.inDoubt = try await store.pendingOperations(.inDoubt).map(\.sequence).filter { !awaited.contains($0) }
        (report.remaining, report.heldBack) = try await store.queueCounts()
    }

    /// The state of one upload.
    struct UploadState {
        var conflicts: ConflictRound
        /// Operations that were refused, or that are in doubt and idempotent, and that have not been sent again yet.
        var retrying: Set<SequenceNumber> = []
        /// The number of consecutive deferrals of each operation.
        var deferrals: [SequenceNumber: Int] = [:]
        /// The number of consecutive refusals of batches with a single change set.
        var refusals = 0
        /// Whether the service has answered the parts of a batch.
        var hasAnsweredParts = false
        /// Operations that were in doubt and did not take effect. One of them may have made their batch fail.
        var suspects: Set<SequenceNumber> = []
        /// Keyless entities, and their neighbours, that were already read during this upload.
        var sought: Set<EntityID> = []
        /// Whether batches request a synchronous response although the service supports asynchronous ones.
        var isImpatient = false
        /// The number of asynchronously processed batches that the service refused as a whole.
        var lateRefusals = 0
        /// The delay before the next poll of each accepted batch, and the current backoff.
        var pauses: [BatchID: (next: Duration, delay: Duration)] = [:]
        /// The total time spent waiting for accepted batches.
        var waited = Duration.zero
        /// Accepted batches that this upload no longer polls, and the reasons.
        var unanswered: Set<BatchID> = []
        var reasons: [BatchID: String] = [:]
        /// Operations in doubt that this upload cannot resolve.
        var unsettled: Set<SequenceNumber> = []
        /// The trials of simpler reference forms.
        var forms = ReferenceFormProbe()
        /// The first failure that did not block other operations. It is thrown at the end.
        var obstacle: TidelogError?

        /// Returns whether the service has deferred an operation that it had not deferred before.
        func isFirstDeferral(_ outcome: BatchAnswered.Outcome) -> Bool {
            if case .deferred = outcome.result { deferrals[outcome.operation] == nil } else { false }
        }
    }

    func newState() -> UploadState {
        UploadState(conflicts: ConflictRound(store: store, session: session, handling: upload.conflicts))
    }

    @_optimize(none)
    func serviceProfile(_ state: UploadState) async throws(TidelogError) -> ServiceProfile {
        var serviceProfile = ServiceProfile(model: try await store.model, options: try await store.serviceOptions)
        if state.isImpatient { serviceProfile.options.respondsAsync = false }
        serviceProfile.options = state.forms.limited(serviceProfile.options)
        return serviceProfile
    }

    /// Sends the plan. It is split into several batches if one would be too large for the log, or contains something
    /// that makes the service refuse all of it.
    ///
    /// - Returns: Whether any operation ended or has to be planned again.
    @_optimize(none)
    private func send(
        _ plan: UploadPlan, since planEpoch: Int, _ serviceProfile: ServiceProfile, _ state: inout UploadState,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        var hasMoved = false
        let trials = state.forms.count
        var parts =
            serviceProfile.options.supportsBatch
            ? plan.parts(halving: state.suspects).flatMap(\.partsByStream) : plan.singleRequests
        let all = serviceProfile
        while !parts.isEmpty {
            let part = parts.removeFirst()
            let serviceProfile = all.serviceProfile(for: part)
            let requests = await requests(of: part, serviceProfile)
            guard requests.fitsRecord || part.changeSets.count == 1 else {
                parts.insert(contentsOf: part.halves, at: 0)
                continue
            }
            // Nil if an operation was undone meanwhile, or the terms have changed.
            let encoder = encoder(serviceProfile)
            let prepared = try await store.prepare(
                part, sent: requests.sent(part), since: planEpoch
            ) { number in
                // An unwritable request is reported when it is to be sent.
                (try? encoder.bytes(of: requests.requests, part, number: number)).map { encoder.fingerprint($0) }
            }
            guard let batch = prepared else { return true }
            var outcomes: [ChangeSetOutcome]
            switch try await deliver(part, requests.requests, batch, serviceProfile, &state, &report) {
            case .answered(let answered):
                state.refusals = 0
                outcomes = answered
            // Independent operations continue meanwhile.
            case .accepted: return true
            case .unsendable(let obstacle):
                if part.changeSets.count > 1 {
                    try await store.withdraw(batch, part)
                    parts.insert(contentsOf: part.halves, at: 0)
                    continue
                }
                outcomes = [.failed(obstacle.response, culprit: nil)]
            case .refused(let response):
                if part.changeSets.count > 1 {
                    try await store.withdraw(batch, part)
                    parts.insert(contentsOf: part.halves, at: 0)
                    continue
                }
                state.refusals += 1
                if state.refusals >= Self.refusalLimit, await !answersParts(serviceProfile, &state, &report) {
                    try await store.withdraw(batch, part)
                    try ServiceSession.check(response, "POST", session.root + "$batch")
                }
                outcomes = [.failed(response, culprit: nil)]
            }
            let results = try await answer(batch, part, requests.requests, outcomes, serviceProfile, &state, &report)
            if results.contains(where: { $0.result != .notProcessed }) || state.forms.count != trials {
                hasMoved = true
            }
            // A newly deferred operation means that the service is busy, so the upload stops. An operation that was
            // deferred before may be the only busy one and does not block the others.
            if !serviceProfile.options.supportsBatch, results.contains(where: { state.isFirstDeferral($0) }) {
                return false
            }
            // Operations after a request that was not processed have to be planned again.
            guard results.allSatisfy(\.isConfirmed) else { break }
        }
        return hasMoved
    }

    /// The number of consecutive single change sets that are considered the cause of a refused batch. After that the
    /// service is assumed to refuse batches in general, unless it is known to answer them.
    static let refusalLimit = 3

    /// Returns whether the service is known to answer batches part by part. If this is unknown, a read-only batch finds
    /// out.
    @_optimize(none)
    func answersParts(_ serviceProfile: ServiceProfile, _ state: inout UploadState, _ report: inout UploadReport) async
        -> Bool
    {
        guard !state.hasAnsweredParts, let set = serviceProfile.model.entitySets.first else {
            return state.hasAnsweredParts
        }
        let query = WireRequest(method: "GET", url: "\(set.segment)?$top=1", headers: ["Accept": "application/json"])
        guard serviceProfile.options.supportsBatch else {
            state.hasAnsweredParts = (try? await session.get(query.url, headers: query.headers))?.isSuccess == true
            return state.hasAnsweredParts
        }
        var atOnce = serviceProfile
        atOnce.options.respondsAsync = false
        let batch = BatchRequest(parts: [.query(query)])
        guard let encoded = try? encoder(atOnce).encode(batch, [], number: 0) else { return false }
        report.batches += 1
        report.bytesSent += encoded.request.body.count
        guard let response = try? await session.modify(encoded.request) else { return false }
        state.hasAnsweredParts =
            BatchResponseKind(response) == .parts && (try? BatchExchange.outcomes(response, to: batch)) != nil
        return state.hasAnsweredParts
    }

    /// Logs the outcomes of a batch, and reads values that the response omitted.
    @discardableResult
    @_optimize(none)
    func answer(
        _ batch: BatchID, _ plan: UploadPlan, _ requests: [[WireRequest]], _ outcomes: [ChangeSetOutcome],
        _ serviceProfile: ServiceProfile, _ state: inout UploadState, _ report: inout UploadReport
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let incompleteRollback = await incompleteRollback(batch, plan, requests, outcomes, serviceProfile)
        var amended = state.forms.withdrawn(plan, requests, outcomes, serviceProfile.options)
        amended.merge(incompleteRollback.inDoubt) { $1 }
        var results = try await store.answer(
            batch, plan, requests: requests, outcomes, retried: state.retrying, options: serviceProfile.options,
            budget: RetryBudget(attempts: upload.retry.attempts, spent: state.deferrals), amended: amended)
        try await adopt(incompleteRollback, batch, &results)
        if let limit = state.forms.proven(by: results) {
            await store.recordDetected { $0.contentIDReferences = limit }
        }
        report.addRetryAfter(outcomes, now: store.environment.now())
        for outcome in results { report.add(outcome) }
        state.retrying.subtract(results.filter { $0.result != .notProcessed }.map(\.operation))
        try await readMissingValues(plan, results)
        try await readBoundEntities(plan, results)
        try await state.conflicts.readRefused(at: results, &report)
        return results
    }

    // MARK: One batch

    /// Returns the next plan, after reading entities whose ETag or properties are unknown.
    ///
    /// - Parameters:
    ///   - asked: Entities that were already requested.
    ///   - read: The requested entities that were read or are known to be deleted. Operations that need the others are
    ///     held.
    @_optimize(none)
    private func nextPlan(
        retrying: Set<SequenceNumber>, _ options: ServiceOptions, asked: Set<EntityID> = [], read: Set<EntityID> = []
    ) async throws(TidelogError) -> UploadPlan {
        let plan = try await store.plan(
            retrying: retrying, unreadable: read, service: options, upload: upload, reach: .batch)
        // If the entities that were read turn out to be deleted, others may have to be read instead.
        let unread = plan.entitiesToRead.filter { !asked.contains($0) }
        guard !unread.isEmpty, asked.isEmpty || plan.isEmpty else { return plan }
        var read = read
        for id in unread {
            let reading = try await readEntity(id)
            if reading != .unreadable { read.insert(id) }
        }
        // Recursive, because the optimizer fails on a loop that awaits throwing calls in a nested loop (Swift
        // 6.3.1).
        return try await nextPlan(retrying: retrying, options, asked: asked.union(unread), read: read)
    }

    /// Reads the children of a deep insert with their parent if the response did not contain them.
    @_optimize(none)
    private func readMissingValues(_ plan: UploadPlan, _ outcomes: [BatchAnswered.Outcome]) async throws(TidelogError) {
        let confirmed = Set(
            outcomes.filter { if case .confirmed = $0.result { true } else { false } }.map(\.operation))
        for request in plan.changeSets.flatMap(\.requests) where confirmed.contains(request.operation) {
            guard let id = request.creates else { continue }
            for id in [id] + request.below.flatMap(\.owners) {
                let missing = try await store.navigationsToKeylessEntities(of: id)
                if !missing.isEmpty { try await readEntity(id, expand: missing) }
            }
        }
    }

    enum ReadResult { case read, gone, unreadable }

    /// Reads an entity. A failure that concerns only this entity does not end the upload.
    @discardableResult
    @_optimize(none)
    func readEntity(_ id: EntityID, expand: [String] = []) async throws(TidelogError) -> ReadResult {
        let found: (payload: EntityPayload, set: EntitySet)?
        do throws(TidelogError) {
            found = try await EntityReader(store: store, session: session).read(id, expand: expand)
        } catch {
            guard error.isLastingAnswer else { throw error }
            return .unreadable
        }
        guard let (payload, set) = found else { return .gone }
        try await store.ingest(payload, of: set, known: id, identifying: !expand.isEmpty)
        return .read
    }
}

extension NewEntity.Level {
    /// The entities of the level that have children, and those below them, from the top.
    fileprivate var owners: [EntityID] {
        entities.flatMap { $0.below.isEmpty ? [] : [$0.id] + $0.below.flatMap(\.owners) }
    }
}

extension BatchAnswered.Outcome {
    var isConfirmed: Bool { if case .confirmed = result { true } else { false } }
}
