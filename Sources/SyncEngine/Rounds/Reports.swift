public import Operations
public import SyncCore

/// What an upload came to.
public struct UploadReport: Sendable {
    public var batches = 0
    /// Bodies of requests, with the contents of streams.
    public var bytesSent = 0
    public var confirmed: [SequenceNumber] = []
    /// Operations that the service refused. Those that wait for a decision in a conflict are in ``conflicts`` instead.
    public var rejected: [(operation: SequenceNumber, refusal: Refusal)] = []
    /// Operations that the service put off; they go again by themselves.
    public var deferred: [(operation: SequenceNumber, refusal: Refusal)] = []
    /// Operations that cancelled each other out, so that nothing of them was sent.
    public var elided: [SequenceNumber] = []
    /// Operations of which it is not known whether they took effect.
    public var inDoubt: [SequenceNumber] = []
    /// Those of ``confirmed`` whose answer was lost and that were found by their content.
    public var adopted: [SequenceNumber] = []
    /// Those of ``inDoubt`` whose lost request may still be running, with the time from which on an upload settles them.
    public var nextLooks: [SequenceNumber: Timestamp] = [:]
    /// Batches that the service still works on in its own time.
    public var awaited: [AwaitedBatch] = []
    /// Entities on which operations wait because others changed them as well, and nobody has decided yet.
    public var conflicts: [Conflict] = []
    /// Everything that is still to be sent, or of which it is not known whether it took effect: refused and put off
    /// operations, such in doubt and such of other categories included, those of ``heldBack`` not.
    public var remaining = 0
    /// Drafts, and what is for this store only.
    public var heldBack = 0

    /// What the next upload waits for; nil where nothing is put off.
    public var postponed: UploadPostponed?
    /// The longest that the service asked to wait for an operation that it put off.
    var retryAfter: Duration?

    public init() {}

    /// These have not ended after all.
    mutating func forget(_ refused: [SequenceNumber]) {
        let refused = Set(refused)
        rejected.removeAll { refused.contains($0.operation) }
    }

    /// Sets the conflicts that wait for a decision. An operation that the service refused because of one of them counts
    /// there, and not as rejected.
    mutating func settle(conflicts: [Conflict]) {
        self.conflicts = conflicts
        forget(conflicts.flatMap(\.operations))
    }

    /// With what a further round came to.
    mutating func add(_ later: UploadReport) {
        batches += later.batches
        bytesSent += later.bytesSent
        confirmed += later.confirmed
        rejected += later.rejected
        elided += later.elided
        // Of these only what holds now.
        deferred = later.deferred
        inDoubt = later.inDoubt
        adopted += later.adopted
        nextLooks = later.nextLooks
        awaited = later.awaited
        settle(conflicts: later.conflicts)
        remaining = later.remaining
        heldBack = later.heldBack
        retryAfter = later.retryAfter
    }

    mutating func add(_ outcome: BatchAnswered.Outcome) {
        switch outcome.result {
        case .confirmed: confirmed.append(outcome.operation)
        case .rejected(let refusal): rejected.append((outcome.operation, refusal))
        case .deferred(let refusal, _): deferred.append((outcome.operation, refusal))
        case .inDoubt: inDoubt.append(outcome.operation)
        case .notProcessed: break
        }
    }
}

/// A batch whose answer a later upload asks for.
public struct AwaitedBatch: Sendable, Hashable {
    public var operations: [SequenceNumber]
    /// Why the answer is not here: a sentence without its full stop.
    public var reason: String
}

/// What a download came to.
public struct DownloadReport: Sendable {
    public var pages = 0
    /// How many entities came, those that are as they were included.
    public var entities = 0
    /// Each query that was downloaded to its end, in order.
    public var queries: [Query] = []
    /// Each query that could not be, in order. What is in it is in ``TidelogError/download`` only: a download with failures
    /// throws the first one's error.
    public var failures: [Failure] = []
    /// Entities that came and could not be taken, `QuarantinedEntity.limit` of each query at most. What the store has of them
    /// stays as it was, and the next download tries again.
    public var quarantined: [QuarantinedEntity] = []
    /// Entities that came several times on one page, which no entity set can have, as URLs name them. What came last holds.
    public var repeated: [String] = []
    /// Expanded navigation properties whose entities could not be kept, as `Set/Property`: they lead to no entity set.
    public var skipped: Set<String> = []
    /// Expanded navigation properties, as `Set/Property`, that the service's answers were silent about for some entities. What
    /// the store has behind them stays.
    public var untold: Set<String> = []
    /// Defining queries that were passed over, because the service's metadata do not allow them any more.
    public var unusable: [UnusableQuery] = []
    /// Defining queries that ask for streams, by name, where the store keeps none since it is not on a disk. All else of them
    /// was downloaded.
    public var withoutStreams: [String] = []
    /// Defining queries of shared data that were passed over, because they were downloaded a short while ago; see
    /// `DefiningQuerySettings.refreshInterval`. By their names they are downloaded all the same.
    public var fresh: [String] = []

    /// Links that a delta told of, in this download or an earlier one, and of which an end is in no defining query's part of
    /// the service, or was not yet when it was downloaded. They wait for it.
    public var openLinks: [OpenLink] = []

    /// One query.
    public struct Query: Sendable, Hashable {
        public var name: String
        public var mode: DownloadMode
        public var pages: Int
        public var tally: DownloadTally
    }

    public init() {}

    /// A query that could not be downloaded to its end. What came of it stays.
    public struct Failure: Sendable {
        /// The query's name.
        public var name: String
        public var error: TidelogError
    }

    mutating func add(_ download: QueryDownload, _ error: TidelogError?) {
        pages += download.pages
        entities += download.tally.entities
        skipped.formUnion(download.skipped)
        untold.formUnion(download.untold)
        quarantined += download.quarantined
        repeated += download.repeated
        if let error { return failures.append(Failure(name: download.query.name, error: error)) }
        queries.append(
            Query(
                name: download.query.name, mode: download.run.mode, pages: download.pages, tally: download.tally))
    }
}
