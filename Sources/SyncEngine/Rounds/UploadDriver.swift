import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Performs the commands of one upload session: it reads and logs in the store, and sends requests.
final class UploadDriver {
    let store: LocalStore
    let session: ServiceSession
    let upload: UploadOptions
    let reading: UploadReading
    var report = UploadReport()
    private var conflicts: ConflictRound
    /// The body of the prepared batch; nil for a single request.
    private var outgoing: WireRequest?

    init(store: LocalStore, session: ServiceSession, upload: UploadOptions) {
        self.store = store
        self.session = session
        self.upload = upload
        reading = UploadReading(store: store, session: session)
        conflicts = ConflictRound(store: store, session: session, handling: upload.conflicts)
    }

    typealias Event = UploadEvent<TidelogError>

    /// Performs a command, and returns its result.
    ///
    /// - Throws: An error of the store, or an error of the service that ends the upload.
    func perform(_ command: UploadCommand<TidelogError>) async throws(TidelogError) -> Event {
        switch command {
        case .begin:
            // A batch whose response could not be logged, for example because the disk was full, would otherwise stay
            // in flight for ever.
            try await store.doubts.interruptOpenBatches()
            return .accepted(try await acceptedBatches())
        case .listAccepted: return .accepted(try await acceptedBatches())
        case .poll(let batch): return .polled(try await poll(batch))
        case .wait(let pause, let batch): try await wait(pause, for: batch)
        case .resolveInDoubt(let knowledge):
            return .resolved(try await InDoubtRound(driver: self, knowledge: knowledge).run())
        case .readQueue: return .queue(try await queue())
        case .resolveConflicts: return .conflicts(hasResolved: try await conflicts.applyPolicy(&report))
        case .plan(let retrying, let knowledge):
            let epoch = await store.uploads.planEpoch
            let profile = try await profile(knowledge)
            return .planned(try await nextPlan(retrying, profile.options), since: epoch, profile)
        case .elide(let operations, let epoch): report.elided += try await store.uploads.elide(operations, since: epoch)
        case .prepare(let plan, let epoch, let profile):
            return .prepared(try await prepare(plan, since: epoch, profile))
        case .send(let batch): return await send(batch)
        case .probe(let profile): return .probed(answersParts: await answersParts(profile))
        case .withdraw(let batch): try await store.uploads.withdraw(batch)
        case .interrupt(let batch, let reason):
            try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
        case .accept(let batch, let monitor):
            try await store.record([.batchAccepted(BatchAccepted(batch: batch, monitor: monitor))])
        case .answer(let answer): return .answered(try await log(answer))
        case .recordReferences(let limit): await store.recordDetected { $0.contentIDReferences = limit }
        case .readNeighborKeys(let entities, let sought):
            var sought = sought
            let hasFound = try await reading.readNeighborKeys(of: entities, &sought)
            return .neighborKeys(hasFound: hasFound, sought: sought)
        case .finish, .fail: break
        }
        return .done
    }

    private func acceptedBatches() async throws(TidelogError) -> [BatchID] {
        try await store.doubts.openBatches().filter { $0.monitor != nil }.map(\.batch)
    }

    func profile(_ knowledge: UploadKnowledge = UploadKnowledge()) async throws(TidelogError) -> ServiceProfile {
        let model = try await store.model
        return ServiceProfile(model: model, options: knowledge.options(try await store.serviceOptions))
    }

    private func queue() async throws(TidelogError) -> UploadQueue {
        var queue = UploadQueue()
        let refused = try await store.queue.pendingOperations(.rejected).map(\.sequence)
        queue.refused = Set(refused.filter(upload.refused.takes))
        let deferred = try await store.queue.pendingOperations(.deferred)
        queue.deferred = Dictionary(deferred.map { ($0.sequence, $0.deferrals) }) { $1 }
        // Not those that the service is still processing.
        let doubtful = Set(try await store.queue.pendingOperations(.inDoubt).map(\.sequence))
        let awaited = Set(try await store.doubts.awaitedOperations().values.joined())
        queue.inDoubt = doubtful.subtracting(report.inDoubt).subtracting(awaited)
        queue.ended = Set(report.rejected.map(\.operation) + report.deferred.map(\.operation))
        return queue
    }

    /// Returns the next plan, after reading entities whose ETag or properties are unknown.
    private func nextPlan(
        _ retrying: Set<SequenceNumber>, _ options: ServiceOptions
    ) async throws(TidelogError) -> UploadPlan {
        var asked: Set<EntityID> = []
        // Those that were read or are known to be deleted. Operations that need the others are held.
        var read: Set<EntityID> = []
        while true {
            let plan = try await store.uploads.plan(
                retrying: retrying, unreadable: read, service: options, upload: upload, reach: .batch)
            // If the entities that were read turn out to be deleted, others may have to be read instead.
            let unread = plan.entitiesToRead.filter { !asked.contains($0) }
            guard !unread.isEmpty, asked.isEmpty || plan.isEmpty else { return plan }
            for id in unread where try await reading.read(id) != .unreadable { read.insert(id) }
            asked.formUnion(unread)
        }
    }

    // MARK: Sending

    func encoder(_ profile: ServiceProfile) -> BatchEncoder {
        BatchEncoder(
            model: profile.model, serviceRoot: session.root, options: profile.options, givenRoot: session.givenRoot)
    }

    /// Encodes a plan, once and outside of the store, and logs it.
    private func prepare(
        _ plan: UploadPlan, since epoch: Int, _ profile: ServiceProfile
    ) async throws(TidelogError) -> Preparation {
        let outgoing = OutgoingBatch(
            plan, number: try await store.nextBatch, encoder(profile), client: store.identifier,
            environment: store.environment)
        guard outgoing.fitsRecord || plan.changeSets.count == 1 else { return .tooLarge }
        let encoded = try outgoing.encoded(plan)
        guard try await store.uploads.prepare(encoded.prepared, since: epoch) else { return .outdated }
        self.outgoing = encoded.request
        return .ready(outgoing.batch, encoded.obstacle)
    }

    private func send(_ batch: UploadedBatch) async -> Event {
        do throws(TidelogError) {
            report.batches += 1
            if let outgoing {
                report.bytesSent += outgoing.body.count
                return .response(try await session.modify(outgoing))
            }
            return .response(try await sendSingle(batch))
        } catch {
            return .failed(error)
        }
    }

    /// Sends the single request of a batch, with the content of its stream if it has one.
    private func sendSingle(_ batch: UploadedBatch) async throws(TidelogError) -> WireResponse {
        guard let request = batch.requests.first, let wire = request.wire else {
            throw TidelogError(.invalidRequest, "Batch \(batch.number) has no request.")
        }
        report.bytesSent += wire.body.count
        guard let content = request.stream?.content else { return try await session.modify(wire) }
        report.bytesSent += Int(clamping: content.byteCount)
        let stream = try await store.media.requestStream(content)
        return try await session.modify(wire, content: stream.requestContent)
    }

    /// Returns whether the service answers batches part by part, or single requests if it has no batches. The request
    /// only reads.
    func answersParts(_ profile: ServiceProfile) async -> Bool {
        guard let set = profile.model.entitySets.first else { return false }
        let accepted = encoder(profile).encoder.headers["Accept"] ?? "application/json"
        let query = WireRequest(method: "GET", url: "\(set.segment)?$top=1", headers: ["Accept": accepted])
        guard profile.options.supportsBatch else {
            return (try? await session.get(query.url, headers: query.headers))?.isSuccess == true
        }
        var atOnce = profile
        atOnce.options.respondsAsync = false
        let batch = BatchRequest(parts: [.query(query)])
        guard let encoded = try? encoder(atOnce).encode(batch, number: 0) else { return false }
        report.batches += 1
        report.bytesSent += encoded.request.body.count
        guard let response = try? await session.modify(encoded.request) else { return false }
        return BatchResponseKind(response) == .parts && (try? BatchExchange.outcomes(response, to: batch)) != nil
    }

    // MARK: Answers

    /// Logs the outcomes of a batch, and reads values that the response omitted.
    func log(_ answer: UploadAnswer) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        await recordRepeatability(answer)
        let rollback = await IncompleteRollback(store: store, session: session).find(answer)
        var answer = answer
        answer.amended.merge(rollback.inDoubt) { $1 }
        var results = try await store.uploads.answer(
            answer, budget: RetryBudget(attempts: upload.retry.attempts, spent: answer.deferrals))
        try await adopt(rollback, answer.batch.number, &results)
        report.addRetryAfter(answer.batch, now: store.environment.now())
        report.addMessages(of: answer.batch)
        for outcome in results { report.add(outcome) }
        try await reading.readMissingValues(answer.batch, results)
        try await reading.readBoundEntities(answer.batch, results)
        try await conflicts.readRefused(at: results, &report)
        return results
    }

    /// Stores whether the service recognizes repeated requests, according to its responses.
    private func recordRepeatability(_ answer: UploadAnswer) async {
        guard answer.profile.options.repeatability == .oasis,
            answer.batch.wires.contains(where: \.isRepeatable)
        else { return }
        switch RepeatabilityEvidence(answer.batch.changeSets) {
        case .supported: await store.recordDetected { $0.lacksRepeatability = false }
        case .unsupported: await store.recordDetected { $0.lacksRepeatability = true }
        case .none: break
        }
    }

    /// Confirms the operations whose entities were found, and stores that the service does not roll back.
    private func adopt(
        _ rollback: IncompleteRollback.Findings, _ batch: BatchID, _ results: inout [BatchAnswered.Outcome]
    ) async throws(TidelogError) {
        guard !rollback.found.isEmpty else { return }
        await store.recordDetected { $0.changeSetRollback = .absent }
        for (pending, payload, set) in rollback.found {
            try await store.doubts.confirm(pending, of: batch, payload, set)
            for index in results.indices where results[index].operation == pending.sequence {
                results[index].result = .confirmed(images: [])
            }
        }
    }
}
