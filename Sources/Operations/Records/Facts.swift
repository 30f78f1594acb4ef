public import EDM

/// The service that a store belongs to, with the metadata document that its records are to be read by.
public struct ServiceDescription: Sendable, Hashable {
    /// Absolute, with a trailing slash.
    public var root: String
    /// The metadata document as the service sent it.
    public var metadata: [UInt8]

    public init(root: String, metadata: [UInt8]) {
        self.root = root
        self.metadata = metadata
    }
}

/// A read query that decides which part of the service is held offline.
public struct DefiningQuery: Sendable, Hashable {
    public var name: String
    /// Relative to the service root, without a leading slash: `Orders?$filter=Amount gt 100`.
    public var query: String
    public var automaticallyRetrievesStreams: Bool

    public init(name: String, query: String, automaticallyRetrievesStreams: Bool = false) {
        self.name = name
        self.query = query
        self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    }
}

/// An entity as the service last represented it.
public struct EntityImage: Sendable, Hashable {
    public var entity: EntityID
    public var set: String
    public var type: String
    /// What the service sent; a property that it left out keeps the value it had.
    public var values: PropertyValues
    public var etag: String?
    /// How the service names the entity where that does not follow from its key: the URL that it wants used for changes, or
    /// its entity-id. Below the service's root relative to it. It stays when the key changes.
    public var editLink: String?
    /// Links that came by `$expand`.
    public var links: [ImageLinks]

    public struct ImageLinks: Sendable, Hashable {
        public var navigation: String
        public var targets: [EntityID]
        /// Whether `targets` is all there is. If not, links that are not among them stay.
        public var isComplete: Bool

        public init(navigation: String, targets: [EntityID], isComplete: Bool) {
            self.navigation = navigation
            self.targets = targets
            self.isComplete = isComplete
        }
    }

    public init(
        entity: EntityID, set: String, type: String, values: PropertyValues, etag: String? = nil,
        editLink: String? = nil, links: [ImageLinks] = []
    ) {
        self.entity = entity
        self.set = set
        self.type = type
        self.values = values
        self.etag = etag
        self.editLink = editLink
        self.links = links
    }

    /// ETags and links are equal if their code units are.
    public static func == (a: EntityImage, b: EntityImage) -> Bool {
        a.entity == b.entity && a.set == b.set && a.type == b.type && a.etag.isExactly(b.etag)
            && a.editLink.isExactly(b.editLink) && a.values == b.values && a.links == b.links
    }
}

/// A batch about to be sent. Logged before its first byte leaves, so that after a crash it is known what may have arrived.
public struct BatchPrepared: Sendable, Hashable {
    public var batch: BatchID
    /// Change sets in the order in which they stand in the batch.
    public var changeSets: [[Request]]
    /// The requests as they are sent, by change set, the identifiers by which the service knows a repetition among their
    /// headers: a repetition has to be the same to the byte. Empty where the service knows none.
    public var sent: [[SentRequest]]
    /// Nil where the log is of a version that kept none, or where the batch could not be written.
    public var fingerprint: Fingerprint?

    /// What was about to be sent, in short: whoever builds the batch again can tell whether it is the same to the byte.
    public struct Fingerprint: Sendable, Hashable {
        /// The length of the body of the `$batch` request; of a request that goes by itself, of all of it.
        public var byteCount: UInt64
        /// SHA-256 of these bytes.
        public var digest: [UInt8]
        /// By which service options it was built: those that are not what the standard promises.
        public var options: [Option]

        public struct Option: Sendable, Hashable {
            public var name: String
            public var value: String

            public init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        public init(byteCount: UInt64, digest: [UInt8], options: [Option]) {
            self.byteCount = byteCount
            self.digest = digest
            self.options = options
        }
    }

    /// One request: its Content-ID and the operation that it carries out. An operation may need several requests.
    public struct Request: Sendable, Hashable {
        public var contentID: String
        public var operation: SequenceNumber

        public init(contentID: String, operation: SequenceNumber) {
            self.contentID = contentID
            self.operation = operation
        }
    }

    /// A request in its final form, without credentials, tokens and cookies, which every sending adds anew.
    public struct SentRequest: Sendable, Hashable {
        public var contentID: String
        public var method: String
        /// Relative to the service root, absolute, or beginning with `$<Content-ID>`.
        public var url: String
        public var headers: [Operation.Header]
        public var body: [UInt8]

        public init(contentID: String, method: String, url: String, headers: [Operation.Header], body: [UInt8]) {
            self.contentID = contentID
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    public init(
        batch: BatchID, changeSets: [[Request]], sent: [[SentRequest]] = [], fingerprint: Fingerprint? = nil
    ) {
        self.batch = batch
        self.changeSets = changeSets
        self.sent = sent
        self.fingerprint = fingerprint
    }

    /// The operations that the batch carries, each once, in order of appearance.
    public var operations: [SequenceNumber] {
        var seen: Set<SequenceNumber> = []
        return changeSets.flatMap { $0 }.map(\.operation).filter { seen.insert($0).inserted }
    }
}

/// What the service made of a batch, operation by operation.
public struct BatchAnswered: Sendable, Hashable {
    public var batch: BatchID
    public var outcomes: [Outcome]

    public struct Outcome: Sendable, Hashable {
        public var operation: SequenceNumber
        public var result: Result

        public init(operation: SequenceNumber, result: Result) {
            self.operation = operation
            self.result = result
        }
    }

    public enum Result: Sendable, Hashable {
        /// Done. The images say what the service holds now; where it said nothing, the operation's own values hold.
        case confirmed(images: [EntityImage])
        case rejected(Refusal)
        /// Refused for a while only: the service is busy, or something else stands in the way that goes by itself. It is
        /// sent again later; `attempts` counts how often it was put off in a row, this time included.
        case deferred(Refusal, attempts: Int)
        /// The service did not come to it, or undid it with its change set. It is pending again.
        case notProcessed
        /// The answer does not tell whether it took effect; the reason is a sentence.
        case inDoubt(String)
    }

    public init(batch: BatchID, outcomes: [Outcome]) {
        self.batch = batch
        self.outcomes = outcomes
    }
}

/// Why the service refused an operation, in the service's words.
public struct Refusal: Sendable, Hashable {
    public var status: Int
    public var code: String
    public var message: String
    /// The inner error as raw JSON, or the start of a body that is no OData error.
    public var innerError: String?
    public var method: String
    /// Relative to the service root.
    public var url: String
    /// The request's body as it was sent, the beginning of a long one; nil where it had none, or where the log is of a
    /// version that did not keep it.
    public var requestBody: String?

    public init(
        status: Int, code: String, message: String, innerError: String? = nil, method: String, url: String,
        requestBody: String? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.innerError = innerError
        self.method = method
        self.url = url
        self.requestBody = requestBody
    }
}

/// The next upload was put off: the service asked for it, or keeps failing. So was the next download, unless it is operations
/// that were put off.
public struct UploadPostponed: Sendable, Hashable {
    /// When the next attempt may be made.
    public var notBefore: Timestamp
    /// How many attempts in a row have come to nothing.
    public var attempt: Int
    /// A sentence.
    public var reason: String

    public init(notBefore: Timestamp, attempt: Int, reason: String) {
        self.notBefore = notBefore
        self.attempt = attempt
        self.reason = reason
    }
}

/// The service took a batch and works on it in its own time (202 with `respond-async`). Logged before anything waits for
/// the answer, so that it is asked for after a restart.
public struct BatchAccepted: Sendable, Hashable {
    public var batch: BatchID
    /// Where the answer is to be had: absolute, or relative to the service root.
    public var monitor: String

    public init(batch: BatchID, monitor: String) {
        self.batch = batch
        self.monitor = monitor
    }
}

/// A batch whose answer never came: whether its operations took effect is not known.
public struct BatchInterrupted: Sendable, Hashable {
    public var batch: BatchID
    public var reason: String

    public init(batch: BatchID, reason: String) {
        self.batch = batch
        self.reason = reason
    }
}
