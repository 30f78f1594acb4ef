import EDM
import ODataWire
import Operations
import SyncCore

/// One upload: batches until nothing more can go. The steps of each batch are
///
/// plan → *prepared* into the log → send → match → reconcile → *answered* into the log,
///
/// and what the answer left open (an ETag, the key of an entity that was created below another) is read afterwards.
///
/// Its functions that await are not optimized, as they wait for the network anyway: the optimizer of Swift 6.3.1 crashes on
/// loops in them that await what throws.
struct UploadRound {
    let store: LocalStore
    let session: ServiceSession
    var upload = UploadOptions()

    /// What a plan is made and sent by. Others may come to hold while it is sent; they are the next plan's.
    struct Terms {
        let model: EntityDataModel
        var options: ServiceOptions
    }

    /// - Parameter refused: what was refused in this upload already, and is not sent again by it.
    @_optimize(none)
    func run(refused: Set<SequenceNumber> = []) async throws(TidelogError) -> UploadReport {
        var report = UploadReport()
        await store.beginUpload()
        do throws(TidelogError) {
            try await run(&report, refused: refused)
            await store.endUpload()
        } catch {
            await store.endUpload()
            try? await tellWhatIsLeft(&report)
            throw error.after(report)
        }
        return report
    }

    @_optimize(none)
    private func run(_ report: inout UploadReport, refused: Set<SequenceNumber>) async throws(TidelogError) {
        // A batch whose answer could not be logged, the disk being full, is in flight for ever otherwise.
        try await store.interruptOpenBatches()
        var course = newCourse()
        try await takeUpAccepted(&course, &report)
        course.suspects = try await settleDoubts(&course, &report)
        // What was refused before is tried again once; what is refused now waits for the next upload.
        course.retrying = Set(
            try await store.pendingOperations(.rejected).map(\.sequence).filter(upload.refused.takes)
        ).subtracting(refused)
        // What was put off goes again by itself.
        let deferred = try await store.pendingOperations(.deferred)
        course.retrying.formUnion(deferred.map(\.sequence))
        // What is in doubt still and not found to be so for good goes again as it is, unless the service is at work on it.
        let doubtful = try await store.pendingOperations(.inDoubt).map(\.sequence)
        let awaited = try await store.awaitedOperations().values.joined()
        course.retrying.formUnion(Set(doubtful).subtracting(report.inDoubt).subtracting(awaited))
        // Now begins with the answers that were outstanding.
        course.retrying.subtract(report.rejected.map(\.operation))
        course.retrying.subtract(report.deferred.map(\.operation))
        course.deferrals = Dictionary(deferred.map { ($0.sequence, $0.deferrals) }) { $1 }
        while true {
            try await course.conflicts.settle(&report)
            let rearrangements = await store.rearrangements
            let terms = try await terms(course)
            let plan = try await nextPlan(retrying: course.retrying, terms.options)
            guard plan.elided.isEmpty else {
                report.elided += try await store.elide(plan.elided, since: rearrangements)
                continue
            }
            guard !plan.isEmpty else {
                // What was read for the plan may have shown what others did.
                if try await course.conflicts.settle(&report) { continue }
                if try await awaitAccepted(&course, &report) { continue }
                if try await readBesides(plan.held.values, &course) { continue }
                // What no other form can say goes as it was, and is refused in the service's own words.
                if course.forms.giveUp() { continue }
                break
            }
            // A service that keeps leaving everything undone must not keep us here for ever.
            guard try await send(plan, since: rearrangements, terms, &course, &report) else { break }
        }
        try await finish(course, &report)
    }

    /// Says what is left, and throws what stood in the way of a part of it.
    @_optimize(none)
    private func finish(_ course: Course, _ report: inout UploadReport) async throws(TidelogError) {
        report.awaited = try await store.awaitedOperations().sorted { $0.key < $1.key }.map { batch, operations in
            AwaitedBatch(operations: operations, reason: course.reasons[batch] ?? "The service works on it")
        }
        report.settle(conflicts: try await store.conflicts())
        try await tellWhatIsLeft(&report)
        if let obstacle = course.obstacle { throw obstacle }
    }

    /// Also where the upload ends with an error: what it left in doubt just now is not among the outcomes.
    @_optimize(none)
    private func tellWhatIsLeft(_ report: inout UploadReport) async throws(TidelogError) {
        let awaited = Set(try await store.awaitedOperations().values.joined())
        report.inDoubt = try await store.pendingOperations(.inDoubt).map(\.sequence).filter { !awaited.contains($0) }
        (report.remaining, report.heldBack) = try await store.queueCounts()
    }

    /// What an upload has learned on its way.
    struct Course {
        var conflicts: ConflictRound
        /// Operations that were refused, or are in doubt and may be done twice, and have not been sent again yet.
        var retrying: Set<SequenceNumber> = []
        /// How often in a row the service has put off each of them.
        var deferrals: [SequenceNumber: Int] = [:]
        /// How many batches in a row were refused although nothing but one change set was in them.
        var refusals = 0
        /// Whether the service has answered the parts of a batch.
        var hasAnsweredParts = false
        /// Operations that were in doubt and did not take effect: one of them may be why their batch came to nothing.
        var suspects: Set<SequenceNumber> = []
        /// Entities whose keys nobody has told, and that were looked for beside those that they are linked to.
        var sought: Set<EntityID> = []
        /// Whether batches want their answers at once although the service could tell them later.
        var isImpatient = false
        /// How many of those that it told later it had refused as a whole.
        var lateRefusals = 0
        /// When batches that the service works on are asked for again, and how the time grows.
        var pauses: [BatchID: (next: Duration, delay: Duration)] = [:]
        /// How long they were waited for.
        var waited = Duration.zero
        /// Those of them that this upload asks for no more, and why.
        var unanswered: Set<BatchID> = []
        var reasons: [BatchID: String] = [:]
        /// Operations in doubt that this upload can find out nothing more about.
        var unsettled: Set<SequenceNumber> = []
        /// The forms of references that the service takes, as far as this upload has reason to try others.
        var forms = FormTrials()
        /// The first thing that could not be done and kept nothing else from being done: it is thrown in the end.
        var obstacle: TidelogError?

        /// Whether the service has put off an operation that it had not put off before.
        func isPutOffFirst(_ outcome: BatchAnswered.Outcome) -> Bool {
            if case .deferred = outcome.result { deferrals[outcome.operation] == nil } else { false }
        }
    }

    func newCourse() -> Course {
        Course(conflicts: ConflictRound(store: store, session: session, handling: upload.conflicts))
    }

    @_optimize(none)
    func terms(_ course: Course) async throws(TidelogError) -> Terms {
        var terms = Terms(model: try await store.model, options: try await store.serviceOptions)
        if course.isImpatient { terms.options.respondsAsync = false }
        terms.options = course.forms.limited(terms.options)
        return terms
    }

    /// Sends the plan, in more than one batch where one is too large for the log or has something in it for which the service
    /// refuses all of it. Returns whether anything has ended or is to be planned anew.
    @_optimize(none)
    private func send(
        _ plan: UploadPlan, since rearrangements: Int, _ terms: Terms, _ course: inout Course,
        _ report: inout UploadReport
    ) async throws(TidelogError) -> Bool {
        var hasMoved = false
        let trials = course.forms.count
        var parts =
            terms.options.supportsBatch
            ? plan.parts(halving: course.suspects).flatMap(\.partsByStream) : plan.singleRequests
        let all = terms
        while !parts.isEmpty {
            let part = parts.removeFirst()
            let terms = all.terms(for: part)
            let requests = await requests(of: part, terms)
            guard requests.fitsRecord || part.changeSets.count == 1 else {
                parts.insert(contentsOf: part.halves, at: 0)
                continue
            }
            // Nil where something was undone meanwhile, or the terms are others.
            let encoder = encoder(terms)
            let prepared = try await store.prepare(
                part, sent: requests.sent(part), since: rearrangements
            ) { number in
                // What cannot be written is told when it is to be sent.
                (try? encoder.bytes(of: requests.requests, part, number: number)).map { encoder.fingerprint($0) }
            }
            guard let batch = prepared else { return true }
            var outcomes: [ChangeSetOutcome]
            switch try await deliver(part, requests.requests, batch, terms, &course, &report) {
            case .answered(let answered):
                course.refusals = 0
                outcomes = answered
            // What does not depend on it goes on meanwhile.
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
                course.refusals += 1
                if course.refusals >= Self.refusalLimit, await !answersParts(terms, &course, &report) {
                    try await store.withdraw(batch, part)
                    try ServiceSession.check(response, "POST", session.root + "$batch")
                }
                outcomes = [.failed(response, culprit: nil)]
            }
            let results = try await answer(batch, part, requests.requests, outcomes, terms, &course, &report)
            if results.contains(where: { $0.result != .notProcessed }) || course.forms.count != trials {
                hasMoved = true
            }
            // A service that is busy now is left alone. What it put off before may be busy by itself and keeps nothing else.
            if !terms.options.supportsBatch, results.contains(where: { course.isPutOffFirst($0) }) { return false }
            // What follows a request that was not carried out has to be planned anew.
            guard results.allSatisfy(\.isConfirmed) else { break }
        }
        return hasMoved
    }

    /// As many change sets in a row are to blame themselves when the service refuses a whole batch for each of them. After
    /// that it is taken to refuse batches, unless it is known to answer them.
    static let refusalLimit = 3

    /// Whether the service is known to answer, and batches part by part. Asked with something that only reads, where nothing
    /// has shown it.
    @_optimize(none)
    func answersParts(_ terms: Terms, _ course: inout Course, _ report: inout UploadReport) async -> Bool {
        guard !course.hasAnsweredParts, let set = terms.model.entitySets.first else { return course.hasAnsweredParts }
        let query = WireRequest(method: "GET", url: "\(set.segment)?$top=1", headers: ["Accept": "application/json"])
        guard terms.options.supportsBatch else {
            course.hasAnsweredParts = (try? await session.get(query.url, headers: query.headers))?.isSuccess == true
            return course.hasAnsweredParts
        }
        var atOnce = terms
        atOnce.options.respondsAsync = false
        let batch = BatchRequest(parts: [.query(query)])
        guard let encoded = try? encoder(atOnce).encode(batch, [], number: 0) else { return false }
        report.batches += 1
        report.bytesSent += encoded.request.body.count
        guard let response = try? await session.modify(encoded.request) else { return false }
        course.hasAnsweredParts =
            BatchAnswer(response) == .parts && (try? BatchExchange.outcomes(response, to: batch)) != nil
        return course.hasAnsweredParts
    }

    /// Logs what the service made of a batch, and reads what its answer left open.
    @discardableResult
    @_optimize(none)
    func answer(
        _ batch: BatchID, _ plan: UploadPlan, _ requests: [[WireRequest]], _ outcomes: [ChangeSetOutcome],
        _ terms: Terms, _ course: inout Course, _ report: inout UploadReport
    ) async throws(TidelogError) -> [BatchAnswered.Outcome] {
        let leftovers = await leftovers(batch, plan, requests, outcomes, terms)
        var amended = course.forms.withdrawn(plan, requests, outcomes, terms.options)
        amended.merge(leftovers.inDoubt) { $1 }
        var results = try await store.answer(
            batch, plan, requests: requests, outcomes, retried: course.retrying, options: terms.options,
            budget: RetryBudget(attempts: upload.retry.attempts, spent: course.deferrals), amended: amended)
        try await adopt(leftovers, batch, &results)
        if let limit = course.forms.proven(by: results) {
            await store.learn { $0.contentIDReferences = limit }
        }
        report.note(outcomes, now: store.environment.now())
        for outcome in results { report.add(outcome) }
        course.retrying.subtract(results.filter { $0.result != .notProcessed }.map(\.operation))
        try await readWhatIsMissing(plan, results)
        try await course.conflicts.look(at: results, &report)
        return results
    }

    // MARK: One batch

    /// The plan, after entities whose ETag or properties are not known have been read.
    ///
    /// - Parameters:
    ///   - asked: those that were asked for.
    ///   - read: those of them that were read, or are known to be gone. What needs the others is held.
    @_optimize(none)
    private func nextPlan(
        retrying: Set<SequenceNumber>, _ options: ServiceOptions, asked: Set<EntityID> = [], read: Set<EntityID> = []
    ) async throws(TidelogError) -> UploadPlan {
        let plan = try await store.plan(
            retrying: retrying, unreadable: read, service: options, upload: upload, reach: .batch)
        // Where those that were read turned out to be gone, there may be others behind them.
        let unread = plan.entitiesToRead.filter { !asked.contains($0) }
        guard !unread.isEmpty, asked.isEmpty || plan.isEmpty else { return plan }
        var read = read
        for id in unread {
            let reading = try await readEntity(id)
            if reading != .unreadable { read.insert(id) }
        }
        // No loop: the compiler's optimizer fails on one that awaits what throws in a loop of its own (Swift 6.3.1).
        return try await nextPlan(retrying: retrying, options, asked: asked.union(unread), read: read)
    }

    /// A deep insert whose answer did not show the entities below: they are read with the one above.
    @_optimize(none)
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

    enum Reading { case read, gone, unreadable }

    /// An answer that is about this entity only ends nothing: others can be read, and sent.
    @discardableResult
    @_optimize(none)
    func readEntity(_ id: EntityID, expand: [String] = []) async throws(TidelogError) -> Reading {
        let found: (payload: EntityPayload, set: EntitySet)?
        do throws(TidelogError) {
            found = try await EntityReading(store: store, session: session).read(id, expand: expand)
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
    /// Those of its entities that have others below them, and below those, from above.
    fileprivate var owners: [EntityID] {
        entities.flatMap { $0.below.isEmpty ? [] : [$0.id] + $0.below.flatMap(\.owners) }
    }
}

extension BatchAnswered.Outcome {
    var isConfirmed: Bool { if case .confirmed = result { true } else { false } }
}
