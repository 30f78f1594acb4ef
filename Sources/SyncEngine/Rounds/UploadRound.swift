import EDM
import ODataWire
import Operations
import SyncCore

/// One upload: batches until nothing more can go. The steps of each batch are
///
/// plan → *prepared* into the log → send → match → reconcile → *answered* into the log,
///
/// and what the answer left open (an ETag, the key of an entity that was created below another) is read afterwards.
struct UploadRound {
    let store: LocalStore
    let session: ServiceSession
    var upload = UploadOptions()

    /// What a plan is made and sent by. Others may come to hold while it is sent; they are the next plan's.
    struct Terms {
        let model: EntityDataModel
        let options: ServiceOptions
    }

    /// - Parameter refused: what was refused in this upload already, and is not sent again by it.
    func run(refused: Set<SequenceNumber> = []) async throws(TidelogError) -> UploadReport {
        var report = UploadReport()
        // A batch whose answer could not be logged, the disk being full, is in flight for ever otherwise.
        try await store.interruptOpenBatches()
        try await settleDoubts(&report)
        // What was refused before is tried again once; what is refused now waits for the next upload.
        var retrying = Set(try await store.pendingOperations(.rejected).map(\.sequence)).subtracting(refused)
        // What was put off goes again by itself.
        let deferred = try await store.pendingOperations(.deferred)
        retrying.formUnion(deferred.map(\.sequence))
        let deferrals = Dictionary(deferred.map { ($0.sequence, $0.deferrals) }) { $1 }
        var conflicts = ConflictRound(store: store, session: session, handling: upload.conflicts)
        while true {
            try await conflicts.settle(&report)
            let rearrangements = await store.rearrangements
            let terms = Terms(model: try await store.model, options: try await store.serviceOptions)
            let plan = try await nextPlan(retrying: retrying, terms.options)
            guard !plan.isEmpty else {
                // What was read for the plan may have shown what others did.
                if try await conflicts.settle(&report) { continue }
                break
            }
            var hasMoved = false
            for part in terms.options.supportsBatch ? [plan] : plan.singleRequests {
                // Nil where something was undone meanwhile, or the terms are others.
                guard let batch = try await store.prepare(part, since: rearrangements) else {
                    hasMoved = true
                    break
                }
                let outcomes = try await send(part, as: batch, terms, retrying, deferrals, &report)
                for outcome in outcomes { report.add(outcome) }
                try await conflicts.look(at: outcomes, &report)
                retrying.subtract(outcomes.map(\.operation))
                if outcomes.contains(where: { $0.result != .notProcessed }) { hasMoved = true }
                // What follows a request that was not carried out has to be planned anew.
                guard outcomes.allSatisfy({ if case .confirmed = $0.result { true } else { false } }) else { break }
            }
            // A service that keeps leaving everything undone must not keep us here for ever.
            guard hasMoved else { break }
        }
        report.conflicts = try await store.conflicts()
        report.remaining = try await store.pendingCount()
        return report
    }

    // MARK: One batch

    /// The plan, after entities whose ETag or properties are not known have been read.
    private func nextPlan(
        retrying: Set<SequenceNumber>, _ options: ServiceOptions
    ) async throws(TidelogError) -> UploadPlan {
        var read: Set<EntityID> = []
        while true {
            let plan = try await store.plan(
                retrying: retrying, unreadable: read, service: options, requestLimit: upload.requestLimit, reach: .batch
            )
            // Where those that were read turned out to be gone, there may be others behind them.
            let unread = plan.entitiesToRead.filter { !read.contains($0) }
            guard !unread.isEmpty, read.isEmpty || plan.isEmpty else { return plan }
            for id in unread { try await readEntity(id) }
            read.formUnion(unread)
        }
    }

    private func send(
        _ plan: UploadPlan, as batch: BatchID, _ terms: Terms, _ retried: Set<SequenceNumber>,
        _ deferrals: [SequenceNumber: Int], _ report: inout UploadReport
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let (requests, outcomes) =
            terms.options.supportsBatch
            ? try await sendBatch(plan, batch, terms, &report) : try await sendSingle(plan, batch, terms, &report)
        let results = try await store.answer(
            batch, plan, requests: requests, outcomes, retried: retried, options: terms.options,
            budget: RetryBudget(attempts: upload.retry.attempts, spent: deferrals))
        report.note(outcomes, now: store.environment.now())
        try await readWhatIsMissing(plan, results)
        return results
    }

    private func sendBatch(
        _ plan: UploadPlan, _ batch: BatchID, _ terms: Terms, _ report: inout UploadReport
    ) async throws(TidelogError) -> ([[WireRequest]], [ChangeSetOutcome]) {
        let encoded: BatchEncoder.Encoded
        let response: WireResponse
        do throws(TidelogError) {
            encoded = try BatchEncoder(
                model: terms.model, serviceRoot: session.root, options: terms.options
            ).encode(plan, number: batch)
            report.batches += 1
            report.bytesSent += encoded.request.body.count
            response = try await session.modify(encoded.request)
        } catch {
            try await failed(batch, plan, error)
            throw error
        }
        return (encoded.changeSets, try await outcomes(encoded, response, batch, plan))
    }

    func failed(_ batch: BatchID, _ plan: UploadPlan, _ error: TidelogError) async throws(TidelogError) {
        if error.mayHaveReachedService {
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: error.message))])
        } else {
            try await store.withdraw(batch, plan)
        }
    }

    private func outcomes(
        _ encoded: BatchEncoder.Encoded, _ response: WireResponse, _ batch: BatchID, _ plan: UploadPlan
    ) async throws(TidelogError) -> [ChangeSetOutcome] {
        guard response.isSuccess else {
            do throws(TidelogError) {
                try ServiceSession.check(response, "POST", session.root + "$batch")
            } catch {
                // With a 4xx, 429 or 503 a service says that it did not look at the batch. Behind other errors anything
                // may have happened: a gateway's time-out is one.
                let isUntouched = response.status < 500 || response.status == 503 || response.status == 501
                if isUntouched {
                    try await store.withdraw(batch, plan)
                } else {
                    try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: error.message))])
                }
                throw error
            }
            return []
        }
        do throws(BatchReadError) {
            return try encoded.exchange.outcomes(response).map {
                if case .changeSet(let outcome) = $0 { outcome } else { .notProcessed }
            }
        } catch {
            let reason = "The answer to the batch cannot be read: \(error)"
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            throw TidelogError(
                .inDoubt, reason, place: session.root + "$batch",
                recovery: "The operations are in doubt; the next upload finds out which of them took effect.",
                cause: error)
        }
    }

    /// A deep insert whose answer did not show the entities below: they are read with the one above.
    private func readWhatIsMissing(_ plan: UploadPlan, _ outcomes: [BatchAnswered.Outcome]) async throws(TidelogError) {
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

    @discardableResult
    private func readEntity(_ id: EntityID, expand: [String] = []) async throws(TidelogError) -> Bool {
        let found = try await EntityReading(store: store, session: session).read(id, expand: expand)
        guard let (payload, set) = found else { return false }
        try await store.ingest(payload, of: set, known: id, identifying: !expand.isEmpty)
        return true
    }

    // MARK: In doubt

    /// Operations whose batch was sent and never answered: finds out by reading, where reading can tell.
    private func settleDoubts(_ report: inout UploadReport) async throws(TidelogError) {
        let doubtful = try await store.pendingOperations(.inDoubt)
        for members in AtomicSets.of(doubtful) { try await settle(members, &report) }
    }

    /// - Parameter members: operations that took effect together or not at all.
    private func settle(
        _ members: [PendingOperation], _ report: inout UploadReport
    ) async throws(TidelogError) {
        var findings: [(pending: PendingOperation, finding: DoubtResolution.Finding)] = []
        for pending in members {
            findings.append((pending, try await DoubtResolution(store: store, session: session).finding(pending)))
        }
        // Only a new entity proves it: that a property has a value may be somebody else's doing.
        let found = findings.filter { item in
            if case .tookEffect = item.finding, case .create = item.pending.operation.action { true } else { false }
        }
        if members.count > 1, case .tookEffect(let batch, _, _)? = found.first?.finding {
            try await store.confirm(members.map(\.sequence), of: batch)
            report.confirmed += members.map(\.sequence)
            // One that was found leads to those whose keys the service gave.
            for id in found.flatMap(\.pending.operation.createdEntities) {
                try await readEntity(id, expand: try await store.navigationsToKeylessEntities(of: id))
            }
            return
        }
        for (pending, finding) in findings {
            switch finding {
            case .tookEffect(let batch, let payload, let set):
                try await store.confirm(pending, of: batch, payload, set)
                report.confirmed.append(pending.sequence)
            case .mayBeSentAgain: try await store.record([.operationsReleased([pending.sequence])])
            case .unknown: report.inDoubt.append(pending.sequence)
            }
        }
    }
}

extension NewEntity.Level {
    /// Those of its entities that have others below them, and below those, from above.
    fileprivate var owners: [EntityID] {
        entities.flatMap { $0.below.isEmpty ? [] : [$0.id] + $0.below.flatMap(\.owners) }
    }
}

extension TidelogError {
    /// Whether the service may have got the request.
    fileprivate var mayHaveReachedService: Bool {
        (cause as? any UncertainDelivery)?.mayHaveBeenSent ?? false
    }
}
