/// A batch about to be sent. Logged before its first byte is sent, so that after a crash it is known which operations
/// may have arrived.
package struct BatchPrepared: Sendable, Hashable {
    package var batch: BatchID
    /// The requests in the order of the batch, by change set. A request that carries further operations has one element
    /// for each of them, directly after its own and with the same Content-ID.
    package var changeSets: [[Request]]
    /// A Boolean value that indicates whether the plan coalesced operations beyond refused ones.
    package var coalesces = false
    /// The requests as sent, by change set, including the identifiers by which the service detects repetitions: a
    /// repeated request must be identical byte for byte. Empty if the service does not support it. In a state, the element
    /// of a change set that must not be repeated is empty.
    package var sent: [[SentRequest]]
    /// The fingerprint; `nil` if the log was written by a version without it, or if the batch could not be encoded.
    package var fingerprint: Fingerprint?

    /// A digest of the batch, which allows verifying that a rebuilt batch is identical byte for byte.
    package struct Fingerprint: Sendable, Hashable {
        /// The length of the body of the `$batch` request; for a single request, the length of the whole request.
        package var byteCount: UInt64
        /// The SHA-256 of these bytes.
        package var digest: [UInt8]
        /// The service options with which it was built, if they deviate from the standard.
        package var options: [Option]

        package struct Option: Sendable, Hashable {
            package var name: String
            package var value: String

            package init(name: String, value: String) {
                self.name = name
                self.value = value
            }
        }

        package init(byteCount: UInt64, digest: [UInt8], options: [Option]) {
            self.byteCount = byteCount
            self.digest = digest
            self.options = options
        }
    }

    /// One request, or a further operation that it carries. An operation may need several requests.
    package struct Request: Sendable, Hashable {
        package var contentID: String
        package var operation: SequenceNumber
        /// The effect of the request, or nil for an operation that it carries. Nil for all requests if the log was
        /// written by a version that did not record effects.
        package var effect: Effect?
        /// The entity that the request creates, with those below it.
        package var creates: NewEntity?
        package var references = References()

        package init(
            contentID: String, operation: SequenceNumber, effect: Effect? = nil, creates: NewEntity? = nil,
            references: References = References()
        ) {
            self.contentID = contentID
            self.operation = operation
            self.effect = effect
            self.creates = creates
            self.references = references
        }
    }

    /// The references of a request to entities, as far as they help to interpret a refusal.
    package struct References: Sendable, Hashable {
        /// The Content-ID with which the URL begins, if it refers to an entity that the change set creates.
        package var contentIDInURL: String?
        /// Whether the body refers to an entity that the change set creates.
        package var hasContentIDInBody: Bool
        /// Whether the request also refers to entities that the service knows.
        package var hasOthers: Bool

        package init(contentIDInURL: String? = nil, hasContentIDInBody: Bool = false, hasOthers: Bool = false) {
            self.contentIDInURL = contentIDInURL
            self.hasContentIDInBody = hasContentIDInBody
            self.hasOthers = hasOthers
        }
    }

    /// The effect of a request. The raw values are part of the format and never reused.
    package enum Effect: UInt8, Sendable, Hashable, CaseIterable {
        case create = 1
        case update = 2
        case delete = 3
        case link = 4
        case unlink = 5
        /// A call of an action.
        case invoke = 6
    }

    /// A Boolean value that indicates whether the effects of the requests are known.
    package var hasEffects: Bool { changeSets.contains { $0.contains { $0.effect != nil } } }

    /// A request in its final form, without credentials, tokens and cookies, which are added each time it is sent.
    package struct SentRequest: Sendable, Hashable {
        package var contentID: String
        package var method: String
        /// The URL: relative to the service root, absolute, or beginning with `$<Content-ID>`.
        package var url: String
        package var headers: [Operation.Header]
        package var body: [UInt8]

        package init(contentID: String, method: String, url: String, headers: [Operation.Header], body: [UInt8]) {
            self.contentID = contentID
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    package init(
        batch: BatchID, changeSets: [[Request]], sent: [[SentRequest]] = [], fingerprint: Fingerprint? = nil
    ) {
        self.batch = batch
        self.changeSets = changeSets
        self.sent = sent
        self.fingerprint = fingerprint
    }

    /// The operations of the batch, each once, in order of appearance.
    package var operations: [SequenceNumber] {
        var operations: [SequenceNumber] = []
        // The operations that were found, from the first one on that does not follow all before it.
        var found: Set<SequenceNumber>?
        _ = containsOperation { operation in
            if found == nil, operation <= operations.last ?? 0 { found = Set(operations) }
            if found?.insert(operation).inserted != false { operations.append(operation) }
            return false
        }
        return operations
    }

    /// Returns whether an operation of a request fulfills the condition.
    package func containsOperation<Failure: Error>(
        where condition: (SequenceNumber) throws(Failure) -> Bool
    ) throws(Failure) -> Bool {
        for changeSet in changeSets {
            // By index, because a loop over the elements copies each request.
            for place in changeSet.indices where try condition(changeSet[place].operation) { return true }
        }
        return false
    }
}

/// An entity that a request creates, with the entities that it creates below it.
package struct NewEntity: Sendable, Hashable {
    package var id: EntityID
    package var below: [Level]

    /// The new entities for one navigation property, in the order of the body.
    package struct Level: Sendable, Hashable {
        package var navigation: String
        package var entities: [NewEntity]

        package init(navigation: String, entities: [NewEntity]) {
            self.navigation = navigation
            self.entities = entities
        }
    }

    package init(_ id: EntityID, below: [Level] = []) {
        self.id = id
        self.below = below
    }
}
