public import Operations
public import SyncCore

/// The result of an upload.
public struct UploadReport: Sendable {
    /// The number of batches that were sent; without `$batch`, of requests.
    public var batches = 0
    /// The size of all request bodies, including stream contents.
    public var bytesSent = 0
    /// The operations that the service confirmed.
    public var confirmed: [SequenceNumber] = []
    /// Operations that the service rejected. Those that wait for a decision in a conflict are in ``conflicts`` instead.
    public var rejected: [(operation: SequenceNumber, refusal: Refusal)] = []
    /// Operations that the service deferred. Later uploads send them again without any action of the app.
    public var deferred: [(operation: SequenceNumber, refusal: Refusal)] = []
    /// Operations that cancelled each other out, so that none of them was sent.
    public var elided: [SequenceNumber] = []
    /// Operations whose outcome is unknown.
    public var inDoubt: [SequenceNumber] = []
    /// The operations in ``confirmed`` whose response was lost and that were found by their content.
    public var adopted: [SequenceNumber] = []
    /// The operations in ``inDoubt`` whose lost request may still be running, with the time from which an upload
    /// resolves them.
    public var nextLooks: [SequenceNumber: Timestamp] = [:]
    /// Batches that the service is still processing asynchronously.
    public var awaited: [AwaitedBatch] = []
    /// Undecided conflicts with changes of other clients, on which operations wait.
    public var conflicts: [Conflict] = []
    /// The number of operations that are unsent or in doubt. It includes rejected and deferred operations and those of
    /// other categories, but not ``heldBack``.
    public var remaining = 0
    /// The number of drafts and local-only operations.
    public var heldBack = 0

    /// Messages that the service sent with successful responses.
    public var messages: [ServiceMessage] = []

    /// The postponement that the next upload waits for, or nil if there is none.
    public var postponed: UploadPostponed?
    /// The longest delay that the service asked for when it deferred an operation.
    package var retryAfter: Duration?

    /// Creates an empty report.
    public init() {}

    /// Removes operations from ``rejected`` because their outcome is open again.
    package mutating func reopen(_ refused: [SequenceNumber]) {
        let refused = Set(refused)
        rejected.removeAll { refused.contains($0.operation) }
    }

    /// Sets the undecided conflicts. An operation that the service rejected because of one of them no longer counts as
    /// rejected.
    package mutating func setUndecided(conflicts: [Conflict]) {
        self.conflicts = conflicts
        reopen(conflicts.flatMap(\.operations))
    }

    /// Adds the result of a further round.
    package mutating func add(_ later: UploadReport) {
        batches += later.batches
        bytesSent += later.bytesSent
        confirmed += later.confirmed
        rejected += later.rejected
        elided += later.elided
        messages += later.messages
        // Only the latest values of these apply.
        deferred = later.deferred
        inDoubt = later.inDoubt
        adopted += later.adopted
        nextLooks = later.nextLooks
        awaited = later.awaited
        setUndecided(conflicts: later.conflicts)
        remaining = later.remaining
        heldBack = later.heldBack
        retryAfter = later.retryAfter
    }

    package mutating func add(_ outcome: BatchAnswered.Outcome) {
        switch outcome.result {
        case .confirmed: confirmed.append(outcome.operation)
        case .rejected(let refusal): rejected.append((outcome.operation, refusal))
        case .deferred(let refusal, _): deferred.append((outcome.operation, refusal))
        case .inDoubt: inDoubt.append(outcome.operation)
        case .notProcessed: break
        }
    }
}

/// A batch whose response a later upload requests.
public struct AwaitedBatch: Sendable, Hashable {
    /// The sequence numbers of the operations in the batch.
    public var operations: [SequenceNumber]
    /// The reason why the response is missing: a sentence without its full stop.
    public var reason: String

    package init(operations: [SequenceNumber], reason: String) {
        self.operations = operations
        self.reason = reason
    }
}

/// The result of a download.
public struct DownloadReport: Sendable {
    /// The number of pages that were received.
    public var pages = 0
    /// The number of received entities, including unchanged ones.
    public var entities = 0
    /// The queries that were downloaded completely, in order.
    public var queries: [Query] = []
    /// The queries that failed, in order. A download with failures throws the error of the first one, so this list is
    /// only available in ``TidelogError/download``.
    public var failures: [Failure] = []
    /// Received entities that could not be applied, at most `QuarantinedEntity.limit` for each query. The store keeps
    /// its version of them, and the next download tries again.
    public var quarantined: [QuarantinedEntity] = []
    /// Entities that appeared several times on one page, which no entity set can contain, as URLs. The last occurrence
    /// is used.
    public var repeated: [String] = []
    /// Entities that a delta reported as removed and that the store cannot identify: their entity-ids, or the name of
    /// their entity set. The next download of the query is a full one, which removes them.
    public var unidentifiedRemovals: [String] = []
    /// Expanded navigation properties whose entities cannot be stored, as `Set/Property`, because they lead to no
    /// entity set, or belong to a complex value.
    public var skipped: Set<String> = []
    /// Expanded navigation properties, as `Set/Property`, that the responses omitted for some entities. The store keeps
    /// its links for these.
    public var omittedExpansions: Set<String> = []
    /// Defining queries that were skipped because the service's metadata no longer allow them.
    public var unusable: [UnusableQuery] = []
    /// The names of defining queries that request streams in a store that is not on disk and therefore cannot keep
    /// them. The rest of their result was downloaded.
    public var withoutStreams: [String] = []
    /// Defining queries of shared data that were skipped because they were downloaded recently; see
    /// `DefiningQuerySettings.refreshInterval`. A download that names them explicitly does not skip them.
    public var fresh: [String] = []

    /// Links that a delta reported, in this download or an earlier one, with an end that no downloaded query result
    /// contains yet. They wait for that end.
    public var openLinks: [OpenLink] = []

    /// The result of one query.
    public struct Query: Sendable, Hashable {
        /// The name of the defining query.
        public var name: String
        /// The mode of the download.
        public var mode: DownloadMode
        /// The number of downloaded pages.
        public var pages: Int
        /// The number of downloaded entities by their effect.
        public var tally: DownloadCounts

        package init(name: String, mode: DownloadMode, pages: Int, tally: DownloadCounts) {
            self.name = name
            self.mode = mode
            self.pages = pages
            self.tally = tally
        }
    }

    /// Creates an empty report.
    public init() {}

    /// A query that was not downloaded completely. The pages that arrived remain in the store.
    public struct Failure: Sendable {
        /// The name of the query.
        public var name: String
        /// The error that ended the download of the query.
        public var error: TidelogError

        package init(name: String, error: TidelogError) {
            self.name = name
            self.error = error
        }
    }
}
