import ODataWire
package import Operations

/// The protocol of one upload as a state machine, which determines the next step and performs none.
///
/// The driver performs ``next``, passes the result to ``handle(_:)``, and repeats this until ``next`` is `finish` or
/// `fail`. The session uses no clock, no network and no store, so the same events always lead to the same commands.
///
/// The steps of an upload are: poll accepted batches, resolve operations in doubt, and then, until nothing can be sent
/// any more, resolve conflicts, plan, and for each part of the plan prepare, send and answer.
package struct UploadSession<Failure: DeliveryFailure>: Sendable {
    package typealias Command = UploadCommand<Failure>
    package typealias Event = UploadEvent<Failure>
    package typealias Obstacle = UploadObstacle<Failure>

    /// The command to perform now.
    package private(set) var next: Command = .begin
    /// The purpose of the current command's result.
    private var step = Step.begin

    /// Operations that the service has already rejected during this upload, and that are not sent again.
    let excluded: Set<SequenceNumber>
    /// The total time to wait for accepted batches.
    let patience: Duration

    /// Operations that were rejected, or that are in doubt and idempotent, and that have not been sent again yet.
    var retrying: Set<SequenceNumber> = []
    /// The number of consecutive deferrals of each operation.
    var deferrals: [SequenceNumber: Int] = [:]
    /// Operations that were in doubt and did not take effect. One of them may have made their batch fail.
    var suspects: Set<SequenceNumber> = []
    /// The number of consecutive batches with a single change set that the service rejected.
    var refusals = 0
    /// The number of asynchronously processed batches that the service rejected as a whole.
    var lateRefusals = 0
    /// Keyless entities, and their neighbors, that were already read during this upload.
    private var sought: Set<EntityID> = []
    /// The delay before the next poll of each accepted batch, and the current backoff.
    var pauses: [BatchID: (next: Duration, delay: Duration)] = [:]
    /// The total time spent waiting for accepted batches.
    private var waited = Duration.zero
    /// Accepted batches that this upload no longer polls, each with the reason: a sentence without its period.
    package internal(set) var unanswered: [BatchID: String] = [:]
    var knowledge = UploadKnowledge()
    /// The first failure that did not block other operations. It is thrown at the end.
    var obstacle: Obstacle?
    /// The parts of the current plan.
    var parts = UploadParts()

    package init(excluding excluded: Set<SequenceNumber> = [], patience: Duration = .seconds(600)) {
        self.excluded = excluded
        self.patience = patience
    }

    /// The number of consecutive single change sets that are considered the cause of a rejected batch. After that, the
    /// service is assumed to reject batches in general, unless it is known to answer them.
    static var refusalLimit: Int { 3 }

    enum Step: Sendable {
        case begin
        case poll(PollContext)
        case resolve
        case queue
        case conflicts
        case plan
        case elide
        case lastConflicts(UploadPlan)
        case list(UploadPlan)
        case wait(BatchID, rest: [BatchID], UploadPlan)
        case neighborKeys
        case prepare
        case send(UploadedBatch)
        case probe(UploadedBatch, WireResponse)
        case answer(AnswerContext)
        case log(Continuation)
        case end
    }

    /// The purpose of a poll.
    enum PollContext: Sendable {
        /// The poll at the beginning, without waiting.
        case initial(rest: [BatchID])
        /// A poll at a time when nothing else can be sent.
        case awaited(BatchID, rest: [BatchID], UploadPlan)
    }

    /// The origin of a response.
    enum AnswerContext: Sendable {
        case part
        case poll(PollContext, hasMoved: Bool?)
    }

    /// The step that follows a log record.
    enum Continuation: Sendable {
        case fail(Obstacle)
        /// The current part is split.
        case split
        case nextRound
        case polled(PollResult, PollContext)
        case answer(UploadedBatch, ServiceProfile, AnswerContext)
        case answered([BatchAnswered.Outcome], AnswerContext)
    }

    /// The result of polling a batch once.
    enum PollResult: Sendable {
        /// The response was available. `hasMoved` is whether any operation ended or has to be planned again.
        case ended(hasMoved: Bool)
        case notYet
        /// The monitor will never return the outcome.
        case doubtful(Obstacle)
        /// The monitor could not be reached. A later upload polls it again.
        case unanswered(Obstacle?)
    }

    mutating func request(_ command: Command, _ step: Step) {
        next = command
        self.step = step
    }

    // MARK: Events

    /// Continues after the result of ``next``.
    ///
    /// - Precondition: The event belongs to the command.
    package mutating func handle(_ event: Event) {
        switch (step, event) {
        case (.begin, .accepted(let batches)): pollInitially(batches)
        case (.poll(let context), .polled(let report)): polled(report, context)
        case (.resolve, .resolved(let report)): resolved(report)
        case (.queue, .queue(let queue)): begin(queue)
        case (.conflicts, .conflicts): request(.plan(retrying: retrying, knowledge), .plan)
        case (.plan, .planned(let plan, let epoch, let profile)): planned(plan, epoch, profile)
        case (.elide, .done): nextRound()
        case (.lastConflicts(let plan), .conflicts(let hasResolved)):
            if hasResolved { nextRound() } else { request(.listAccepted, .list(plan)) }
        case (.list(let plan), .accepted(let batches)): awaitAnswer(batches, plan)
        case (.wait(let batch, let rest, let plan), .done):
            request(.poll(batch), .poll(.awaited(batch, rest: rest, plan)))
        case (.neighborKeys, .neighborKeys(let hasFound, let sought)):
            self.sought = sought
            if hasFound { nextRound() } else { giveUp() }
        case (.prepare, .prepared(let preparation)): prepared(preparation)
        case (.send(let batch), .response(let response)): received(response, batch)
        case (.send(let batch), .failed(let failure)): failed(failure, batch)
        case (.probe(let batch, let response), .probed(let answersParts)):
            knowledge.hasAnsweredParts = answersParts
            probed(batch, response)
        case (.answer(let context), .answered(let results)): answered(results, context)
        case (.log(let continuation), .done): proceed(continuation)
        default: preconditionFailure("The event \(event) does not belong to the command \(next).")
        }
    }

    private mutating func proceed(_ continuation: Continuation) {
        switch continuation {
        case .fail(let obstacle): request(.fail(obstacle), .end)
        case .split: splitPart()
        case .nextRound: nextRound()
        case .polled(let result, let context): pollEnded(result, context)
        case .answer(let batch, let profile, let context): answer(batch, profile, context)
        case .answered(let results, let context): proceed(after: results, context)
        }
    }

    // MARK: Beginning

    mutating func pollInitially(_ batches: [BatchID]) {
        guard let first = batches.first else { return request(.resolveInDoubt(knowledge), .resolve) }
        request(.poll(first), .poll(.initial(rest: Array(batches.dropFirst()))))
    }

    private mutating func resolved(_ report: InDoubtReport<Failure>) {
        knowledge = report.knowledge
        suspects = report.released
        obstacle = obstacle ?? report.obstacle
        request(.readQueue, .queue)
    }

    /// Selects the operations to retry: those rejected by an earlier upload, deferred ones, and those in doubt whose
    /// request is idempotent, which are sent again unchanged.
    ///
    /// Operations rejected during this upload wait for the next one. The app need not do anything for a retry.
    private mutating func begin(_ queue: UploadQueue) {
        retrying = queue.refused.subtracting(excluded).union(queue.deferred.keys).union(queue.inDoubt)
        retrying.subtract(queue.ended)
        deferrals = queue.deferred
        nextRound()
    }

    // MARK: Planning

    mutating func nextRound() { request(.resolveConflicts, .conflicts) }

    private mutating func planned(_ plan: UploadPlan, _ epoch: Int, _ profile: ServiceProfile) {
        if !plan.elided.isEmpty {
            request(.elide(plan.elided, since: epoch), .elide)
        } else if plan.isEmpty {
            // Reading for the plan may have revealed changes of other clients.
            request(.resolveConflicts, .lastConflicts(plan))
        } else {
            let all =
                profile.options.supportsBatch
                ? plan.parts(halving: suspects).flatMap(\.partsByStream) : plan.singleRequests
            parts = UploadParts(all, since: epoch, profile, trials: knowledge.forms.count)
            nextPart()
        }
    }

    /// Polls the first of these batches that may be waited for.
    mutating func awaitAnswer(_ batches: [BatchID], _ plan: UploadPlan) {
        var rest = batches[...]
        while let batch = rest.popFirst() {
            guard unanswered[batch] == nil else { continue }
            guard let pause = pauses[batch]?.next else {
                return request(.poll(batch), .poll(.awaited(batch, rest: Array(rest), plan)))
            }
            guard waited + pause <= patience else { continue }
            waited += pause
            return request(.wait(pause, batch), .wait(batch, rest: Array(rest), plan))
        }
        readNeighborKeys(plan)
    }

    private mutating func readNeighborKeys(_ plan: UploadPlan) {
        let keyless = plan.held.values.compactMap { if case .keyUnknown(let id) = $0 { id } else { nil } }
        let awaited = Set(keyless).subtracting(sought)
        if awaited.isEmpty { giveUp() } else { request(.readNeighborKeys(of: awaited, sought: sought), .neighborKeys) }
    }

    /// Sends operations that no simpler form can express in their original form, so that the service's own rejection is
    /// recorded.
    private mutating func giveUp() { if knowledge.forms.giveUp() { nextRound() } else { finish() } }

    mutating func finish() { request(.finish(obstacle), .end) }

    // MARK: Outcomes

    mutating func answer(_ batch: UploadedBatch, _ profile: ServiceProfile, _ context: AnswerContext) {
        let amended = knowledge.forms.withdrawn(batch, profile.options)
        request(
            .answer(
                UploadAnswer(
                    batch: batch, profile: profile, amended: amended, retried: retrying, deferrals: deferrals)),
            .answer(context))
    }

    private mutating func answered(_ results: [BatchAnswered.Outcome], _ context: AnswerContext) {
        retrying.subtract(results.filter { $0.result != .notProcessed }.map(\.operation))
        guard let limit = knowledge.forms.proven(by: results) else { return proceed(after: results, context) }
        request(.recordReferences(limit), .log(.answered(results, context)))
    }

    private mutating func proceed(after results: [BatchAnswered.Outcome], _ context: AnswerContext) {
        switch context {
        case .part: partEnded(results)
        case .poll(let context, let hasMoved):
            pollEnded(.ended(hasMoved: hasMoved ?? results.contains { $0.result != .notProcessed }), context)
        }
    }
}
