package import EDM
package import ODataWire
package import Operations

/// The model and service options of one plan. Later changes apply to the next plan.
package struct ServiceProfile: Sendable {
    package let model: EntityDataModel
    package var options: ServiceOptions

    package init(model: EntityDataModel, options: ServiceOptions) {
        self.model = model
        self.options = options
    }

    /// Returns the profile for sending the plan. A stream write is sent as if the service had no `$batch`.
    package func profile(for plan: UploadPlan) -> ServiceProfile {
        guard plan.writesStream else { return self }
        var profile = self
        profile.options.supportsBatch = false
        return profile
    }
}

/// The error of a request that received no usable response.
package protocol DeliveryFailure: Error, Sendable {
    var message: String { get }
    /// Whether the service may have received the request.
    var mayHaveReachedService: Bool { get }
    var isCancellation: Bool { get }
    /// Whether the content of a stream is lost, so that the request can never be sent.
    var isOfLostContent: Bool { get }
    /// Whether polling a status monitor again would fail in the same way.
    var isLastingOfMonitor: Bool { get }
    /// Whether there was no usable contact with the service: no connection, expired credentials, or an unreachable
    /// authentication endpoint.
    var isSilence: Bool { get }
}

/// The reason why an upload ends with an error.
package enum UploadObstacle<Failure: DeliveryFailure>: Sendable {
    case failure(Failure)
    /// An unsuccessful response to a request.
    case response(WireResponse, UploadTarget)
    /// The service answered, but the outcome of the operations is unknown, for this reason: a sentence.
    case doubt(String, UploadTarget)
}

/// The target of a request.
package enum UploadTarget: Sendable, Hashable {
    case batch
    /// A single request, with its method and URL.
    case request(method: String, url: String)
    /// The status monitor with this URL.
    case monitor(String)
}

/// The knowledge about the service that the requests of one upload acquire.
package struct UploadKnowledge: Sendable {
    /// Whether the service has answered the parts of a batch.
    package var hasAnsweredParts = false
    /// Whether batches request a synchronous response although the service supports asynchronous ones.
    package var isImpatient = false
    /// The trials of simpler reference forms.
    package var forms = ReferenceFormProbe()

    package init() {}

    /// Returns the options for the next plan.
    package func options(_ options: ServiceOptions) -> ServiceOptions {
        var options = options
        if isImpatient { options.respondsAsync = false }
        return forms.limited(options)
    }
}

/// A batch with the outcomes of its change sets, and the facts with which they are reconciled.
package struct UploadAnswer: Sendable {
    package var batch: UploadedBatch
    package var profile: ServiceProfile
    /// Better-known results of operations that the service has rejected.
    package var amended: [SequenceNumber: BatchAnswered.Result]
    /// Operations that were rejected before and are sent again.
    package var retried: Set<SequenceNumber>
    /// The number of previous consecutive deferrals of each operation.
    package var deferrals: [SequenceNumber: Int]

    package init(
        batch: UploadedBatch, profile: ServiceProfile,
        amended: [SequenceNumber: BatchAnswered.Result] = [:], retried: Set<SequenceNumber> = [],
        deferrals: [SequenceNumber: Int] = [:]
    ) {
        self.batch = batch
        self.profile = profile
        self.amended = amended
        self.retried = retried
        self.deferrals = deferrals
    }
}

/// A step that an upload session requests. Each is answered by the event with the corresponding name.
package enum UploadCommand<Failure: DeliveryFailure>: Sendable {
    /// Mark the batches without a response as in doubt, and list the accepted ones.
    case begin
    /// List the batches that the service processes asynchronously.
    case listAccepted
    /// Request the response to an accepted batch from its status monitor.
    case poll(BatchID)
    /// Wait before the next poll of a batch.
    case wait(Duration, BatchID)
    /// Resolve the operations in doubt.
    case resolveInDoubt(UploadKnowledge)
    /// Read the operations to send again.
    case readQueue
    /// Apply the conflict policy.
    case resolveConflicts
    case plan(retrying: Set<SequenceNumber>, UploadKnowledge)
    /// Log that operations cancel each other out, unless the plan is outdated.
    case elide([SequenceNumber], since: Int)
    /// Encode a plan and log it as prepared, unless it is outdated.
    case prepare(UploadPlan, since: Int, ServiceProfile)
    case send(UploadedBatch)
    /// Find out whether the service answers batches part by part, with requests that only read.
    case probe(ServiceProfile)
    /// Log that the batch was not sent or not processed.
    case withdraw(UploadedBatch)
    /// Log that the response to the batch is lost, for this reason: a sentence.
    case interrupt(BatchID, String)
    /// Log that the service processes the batch asynchronously.
    case accept(BatchID, monitor: String)
    /// Log the outcomes of a batch, and read the values that the response omitted.
    case answer(UploadAnswer)
    /// Store the proven limit of references to new entities.
    case recordReferences(ServiceOptions.ContentIDReferences)
    /// Read the entities linked to those whose keys are awaited. `sought` are those that were already read.
    case readNeighborKeys(of: Set<EntityID>, sought: Set<EntityID>)
    /// End the upload, and throw the obstacle if there is one.
    case finish(UploadObstacle<Failure>?)
    /// End the upload at once with an error.
    case fail(UploadObstacle<Failure>)
}

/// The result of a command.
package enum UploadEvent<Failure: DeliveryFailure>: Sendable {
    /// The step was carried out and has no result.
    case done
    case accepted([BatchID])
    /// Nil if no operation waits for the batch any more.
    case polled(MonitorReport<Failure>?)
    case resolved(InDoubtReport<Failure>)
    case queue(UploadQueue)
    /// Whether any conflict was resolved.
    case conflicts(hasResolved: Bool)
    case planned(UploadPlan, since: Int, ServiceProfile)
    case prepared(Preparation)
    case response(WireResponse)
    case failed(Failure)
    case probed(answersParts: Bool)
    case answered([BatchAnswered.Outcome])
    case neighborKeys(hasFound: Bool, sought: Set<EntityID>)
}

/// The response of a status monitor, with the batch that it belongs to.
package struct MonitorReport<Failure: DeliveryFailure>: Sendable {
    package enum Answer: Sendable {
        case response(WireResponse)
        case failure(Failure)
        /// The monitor belongs to another origin, which is not requested.
        case foreign
    }

    package var batch: UploadedBatch
    /// The monitor's URL in the form that error messages may contain.
    package var monitor: String
    /// Whether the batch was sent before, so that there may have been an earlier response.
    package var isRepeated: Bool
    /// The time since the transmission, in milliseconds. Negative if the clock was set back.
    package var age: Int64
    package var answer: Answer
    package var profile: ServiceProfile
    package var now: Timestamp

    package init(
        batch: UploadedBatch, monitor: String, isRepeated: Bool, age: Int64, answer: Answer, profile: ServiceProfile,
        now: Timestamp
    ) {
        self.batch = batch
        self.monitor = monitor
        self.isRepeated = isRepeated
        self.age = age
        self.answer = answer
        self.profile = profile
        self.now = now
    }
}

/// The result of resolving operations in doubt.
package struct InDoubtReport<Failure: DeliveryFailure>: Sendable {
    /// Operations that did not take effect.
    package var released: Set<SequenceNumber>
    package var knowledge: UploadKnowledge
    /// The first failure that did not block other operations.
    package var obstacle: UploadObstacle<Failure>?

    package init(
        released: Set<SequenceNumber>, knowledge: UploadKnowledge, obstacle: UploadObstacle<Failure>? = nil
    ) {
        self.released = released
        self.knowledge = knowledge
        self.obstacle = obstacle
    }
}

/// The operations in the queue that an upload may send again.
package struct UploadQueue: Sendable {
    /// Rejected operations that the app wants to send again.
    package var refused: Set<SequenceNumber> = []
    /// Deferred operations, each with the number of consecutive deferrals.
    package var deferred: [SequenceNumber: Int] = [:]
    /// Operations in doubt that this upload could resolve no further, and whose requests are idempotent.
    package var inDoubt: Set<SequenceNumber> = []
    /// Operations that this upload has already seen rejected or deferred.
    package var ended: Set<SequenceNumber> = []

    package init() {}
}

/// The result of preparing a batch.
package enum Preparation: Sendable {
    /// The plan is too large for a record and has to be split.
    case tooLarge
    /// An operation was undone meanwhile, or the options have changed.
    case outdated
    /// The batch is logged. If there is an obstacle, it cannot be sent because of a header.
    case ready(UploadedBatch, HeaderObstacle?)
}
