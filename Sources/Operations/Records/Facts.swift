package import EDM

/// The service of a store, with the metadata document for interpreting the records.
package struct ServiceDescription: Sendable, Hashable {
    /// An absolute URL with a trailing slash.
    package var root: String
    /// The metadata document as received from the service.
    package var metadata: [UInt8]

    package init(root: String, metadata: [UInt8]) {
        self.root = root
        self.metadata = metadata
    }
}

/// A read query that defines a part of the service to be kept offline.
package struct DefiningQuery: Sendable, Hashable {
    package var name: String
    /// The query, relative to the service root, without a leading slash: `Orders?$filter=Amount gt 100`.
    package var query: String
    package var automaticallyRetrievesStreams: Bool

    package init(name: String, query: String, automaticallyRetrievesStreams: Bool = false) {
        self.name = name
        self.query = query
        self.automaticallyRetrievesStreams = automaticallyRetrievesStreams
    }
}

/// An entity as the service last returned it.
package struct EntityImage: Sendable, Hashable {
    package var entity: EntityID
    package var set: String
    package var type: String
    /// The returned values. A property that is missing keeps its value.
    package var values: PropertyValues
    @usableFromInline var storedETag: OptionalText
    @usableFromInline var storedEditLink: OptionalText
    /// Links from `$expand`.
    package var links: [ImageLinks]

    package struct ImageLinks: Sendable, Hashable {
        package var navigation: String
        package var targets: [EntityID]
        /// Whether `targets` is complete. If not, other links are kept.
        package var isComplete: Bool

        package init(navigation: String, targets: [EntityID], isComplete: Bool) {
            self.navigation = navigation
            self.targets = targets
            self.isComplete = isComplete
        }
    }

    @inlinable package var etag: String? {
        get { storedETag.text }
        set { storedETag = OptionalText(newValue) }
    }

    /// The service's URL of the entity if it does not follow from the key: the URL for modifications, or the
    /// entity-id. Relative to the service root if it is below it. It is kept when the key changes.
    @inlinable package var editLink: String? {
        get { storedEditLink.text }
        set { storedEditLink = OptionalText(newValue) }
    }

    package init(
        entity: EntityID, set: String, type: String, values: PropertyValues, etag: String? = nil,
        editLink: String? = nil, links: [ImageLinks] = []
    ) {
        self.entity = entity
        self.set = set
        self.type = type
        self.values = values
        storedETag = OptionalText(etag)
        storedEditLink = OptionalText(editLink)
        self.links = links
    }

    /// Returns whether the images are equal. ETags and links are compared by code units.
    package static func == (a: EntityImage, b: EntityImage) -> Bool {
        a.entity == b.entity && a.set == b.set && a.type == b.type && a.etag.isExactly(b.etag)
            && a.editLink.isExactly(b.editLink) && a.values == b.values && a.links == b.links
    }
}

/// The outcome of a batch, by operation.
package struct BatchAnswered: Sendable, Hashable {
    package var batch: BatchID
    package var outcomes: [Outcome]

    package struct Outcome: Sendable, Hashable {
        package var operation: SequenceNumber
        package var result: Result

        package init(operation: SequenceNumber, result: Result) {
            self.operation = operation
            self.result = result
        }
    }

    package enum Result: Sendable, Hashable {
        /// Confirmed. The images contain the entities as the service has them now; if there is none, the operation's
        /// own values apply.
        case confirmed(images: [EntityImage])
        case rejected(Refusal)
        /// Rejected temporarily: the service is busy, or another obstacle will disappear by itself. The operation is
        /// sent again later; `attempts` counts its consecutive postponements, including this one.
        case deferred(Refusal, attempts: Int)
        /// The service did not process it, or rolled it back with its change set. It is pending again.
        case notProcessed
        /// It is unknown whether it took effect; the reason is a sentence.
        case inDoubt(String)
    }

    package init(batch: BatchID, outcomes: [Outcome]) {
        self.batch = batch
        self.outcomes = outcomes
    }

    /// The operations of the outcomes.
    package var operations: [SequenceNumber] {
        // By index, because a loop over the elements copies each outcome.
        outcomes.indices.map { outcomes[$0].operation }
    }
}

/// The response with which the service rejected an operation.
public struct Refusal: Sendable, Hashable {
    /// The HTTP status; 0 if the refusal is not a response of the service.
    public var status: Int
    /// The code of the service's error, or an empty string.
    public var code: String
    /// The message of the service's error.
    public var message: String
    /// The inner error as raw JSON, or the start of a body that is not an OData error.
    public var innerError: String?
    /// The HTTP method of the rejected request.
    public var method: String
    /// The URL of the request, relative to the service root.
    public var url: String
    /// The request's body as sent, truncated if it is long; `nil` if there was none, or if the log was written by a
    /// version that did not store it.
    public var requestBody: String?

    /// Creates a refusal from the parts of a response and of its request.
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

/// The postponement of the next upload, because the service requested it or keeps failing. It applies to downloads
/// too, unless only operations were postponed.
public struct UploadPostponed: Sendable, Hashable {
    /// The earliest time of the next attempt.
    public var notBefore: Timestamp
    /// The number of consecutive failed attempts.
    public var attempt: Int
    /// The reason, as a sentence.
    public var reason: String

    /// Creates a postponement.
    public init(notBefore: Timestamp, attempt: Int, reason: String) {
        self.notBefore = notBefore
        self.attempt = attempt
        self.reason = reason
    }
}

/// A batch that the service accepted for asynchronous processing (202 with `respond-async`). Logged before the first
/// poll, so that the result is polled after a restart.
package struct BatchAccepted: Sendable, Hashable {
    package var batch: BatchID
    /// The URL of the status monitor: absolute, or relative to the service root.
    package var monitor: String

    package init(batch: BatchID, monitor: String) {
        self.batch = batch
        self.monitor = monitor
    }
}

/// A batch without response, whose operations may or may not have taken effect.
package struct BatchInterrupted: Sendable, Hashable {
    package var batch: BatchID
    package var reason: String

    package init(batch: BatchID, reason: String) {
        self.batch = batch
        self.reason = reason
    }
}
