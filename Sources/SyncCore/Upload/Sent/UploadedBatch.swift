import EDM
package import ODataWire
package import Operations

/// The exchange of a batch: each request with its effects, its form on the wire, and the outcome of its change set.
///
/// It is created from a plan when the batch is sent, and from the log after a restart.
package struct UploadedBatch: Sendable, Hashable {
    package var number: BatchID
    /// The change sets in the order of the batch.
    package var changeSets: [UploadedChangeSet]

    package init(number: BatchID, changeSets: [UploadedChangeSet]) {
        self.number = number
        self.changeSets = changeSets
    }

    /// Creates a batch from its plan.
    ///
    /// - Parameter encode: Returns a request as it is sent.
    package init(_ plan: UploadPlan, number: BatchID, encode: (PlannedRequest) -> WireRequest?) {
        self.number = number
        changeSets = plan.changeSets.map { changeSet in
            UploadedChangeSet(requests: changeSet.requests.map { UploadedRequest($0, encode($0)) })
        }
    }

    /// The requests in the order of the batch.
    package var requests: [UploadedRequest] { changeSets.flatMap(\.requests) }

    /// The known requests as sent, in the order of the batch.
    package var wires: [WireRequest] { changeSets.flatMap { $0.requests.compactMap(\.wire) } }

    /// The operations, each once, in order of appearance.
    package var operations: [SequenceNumber] {
        var seen: Set<SequenceNumber> = []
        var operations: [SequenceNumber] = []
        for changeSet in changeSets {
            // By index, because a loop over the elements copies each request.
            for place in changeSet.requests.indices {
                operations += changeSet.requests[place].operations.filter { seen.insert($0).inserted }
            }
        }
        return operations
    }

    /// Returns the batch with the change sets at these positions only.
    package func part(_ places: some Sequence<Int>) -> UploadedBatch {
        UploadedBatch(number: number, changeSets: places.map { changeSets[$0] })
    }

    /// Returns the batch with the outcomes of its change sets.
    ///
    /// - Parameter outcomes: One outcome for each change set, in order; see `BatchMatcher`. Change sets without an
    ///   outcome were not processed.
    package func answered(_ outcomes: [ChangeSetOutcome]) -> UploadedBatch {
        var batch = self
        for (place, outcome) in zip(changeSets.indices, outcomes) { batch.changeSets[place].outcome = outcome }
        return batch
    }

    /// Replaces each request as sent with the result of a closure.
    package mutating func mapWires(_ transform: (UploadedRequest) -> WireRequest?) {
        for place in changeSets.indices {
            for index in changeSets[place].requests.indices {
                changeSets[place].requests[index].wire = transform(changeSets[place].requests[index])
            }
        }
    }

    /// Adds the requests that the log does not contain, by Content-ID.
    ///
    /// - Parameter rebuilt: The batch, rebuilt from the state that it was planned from.
    package mutating func complete(from rebuilt: UploadedBatch) {
        let wires = Dictionary(rebuilt.requests.map { ($0.contentID, $0.wire) }) { first, _ in first }
        mapWires { $0.wire ?? wires[$0.contentID] ?? nil }
    }

    /// A Boolean value that indicates whether the batch is one request that writes a stream.
    package var writesStream: Bool { changeSets.contains { $0.requests.contains(where: \.writesStream) } }

    /// The media entities whose content is sent with their creation.
    package var createdMediaEntities: Set<EntityID> {
        guard writesStream else { return [] }
        return Set(requests.filter { $0.stream?.content != nil }.compactMap { $0.creates?.id })
    }

    /// The stream with the new ETag from the response, which the next change has to send. Nil if the batch writes no
    /// stream or the response has no ETag.
    package var streamImage: StreamImage? {
        guard let changeSet = changeSets.first, let request = changeSet.requests.first, request.effect == .update,
            let stream = request.stream, let content = stream.content, let entity = stream.entity,
            case .members(let responses)? = changeSet.outcome, let etag = responses.first?.headers["ETag"]
        else { return nil }
        return StreamImage(entity: entity, property: stream.property, content: content, etag: etag)
    }

    /// The batch in protocol terms. A request that is unknown is represented by its Content-ID, which is sufficient to
    /// match responses.
    package var request: BatchRequest {
        BatchRequest(
            parts: changeSets.map { changeSet in
                .changeSet(
                    changeSet.requests.map {
                        BatchPart.Member(
                            contentID: $0.contentID, request: $0.wire ?? WireRequest(method: "POST", url: "$"))
                    })
            })
    }
}

/// Requests that were sent together and take effect all or none.
package struct UploadedChangeSet: Sendable, Hashable {
    package var requests: [UploadedRequest]
    /// The outcome according to the response; nil as long as no response reported it.
    package var outcome: ChangeSetOutcome?

    package init(requests: [UploadedRequest], outcome: ChangeSetOutcome? = nil) {
        self.requests = requests
        self.outcome = outcome
    }

    /// The operations that the requests perform, each once, in the order of their creation, except that an operation
    /// whose last request precedes those of earlier operations precedes these.
    package var operations: [SequenceNumber] {
        if requests.count == 1, requests[0].carries.isEmpty { return requests[0].operations }
        var places: [SequenceNumber: (first: SequenceNumber, request: Int)] = [:]
        var first = SequenceNumber.max
        // By index, because a loop over the elements copies each request.
        for place in requests.indices.reversed() {
            let own = requests[place].operation
            first = min(first, own)
            for operation in requests[place].operations where places[operation] == nil {
                places[operation] = (operation == own ? first : operation, place)
            }
        }
        return places.sorted { ($0.value.first, $0.value.request, $0.key) < ($1.value.first, $1.value.request, $1.key) }
            .map(\.key)
    }

    /// The places of the requests that only check the ETag for a later request of the same operation. Their responses
    /// describe the entity as it was before the operations between them.
    var checks: Set<Int> {
        guard requests.count > 2 else { return [] }
        var (checks, later): (Set<Int>, Set<SequenceNumber>) = ([], [])
        // By index, because a loop over the elements copies each request.
        for place in requests.indices.reversed() {
            let operation = requests[place].operation
            guard !later.insert(operation).inserted, requests[place].effect == .update,
                requests[place + 1].operation != operation
            else { continue }
            checks.insert(place)
        }
        return checks
    }

    /// Returns the Content-ID of the request that caused the rejection of the change set, or nil if it is unknown.
    ///
    /// - Parameter culprit: The Content-ID according to the position of the rejection in the response.
    package func culprit(_ response: WireResponse, _ culprit: String?) -> String? {
        if let culprit { return culprit }
        guard let error = ServiceErrorReader.read(response.body) else { return nil }
        if let found = FailingRequestMatcher(sent(requests.indices)).find(error) { return found }
        // A check has the URL of a later request of the same operation.
        let checks = checks
        guard !checks.isEmpty else { return nil }
        return FailingRequestMatcher(sent(requests.indices.filter { !checks.contains($0) })).find(error)
    }

    private func sent(_ places: some Sequence<Int>) -> [(contentID: String, request: WireRequest)] {
        places.compactMap { place in requests[place].wire.map { (requests[place].contentID, $0) } }
    }
}

/// A request that was sent.
package struct UploadedRequest: Sendable, Hashable {
    package var contentID: String
    package var operation: SequenceNumber
    /// Further operations that the request performs.
    package var carries: [SequenceNumber]
    package var effect: BatchPrepared.Effect
    /// The entity that the request creates, with those below it.
    package var creates: NewEntity?
    /// The sent content of the new entity, by which the entities of a deep insert are recognized in the response.
    package var body: EntityBody?
    /// The request as sent; nil if the log does not contain it.
    package var wire: WireRequest?
    package var references = BatchPrepared.References()
    /// The stream that the request writes, if it writes one.
    package var stream: Stream?
    /// The called action; nil for other requests, and if the metadata no longer have the action.
    package var invocation: OperationInvocation?
    /// The entities that a call is about: the bound one, and that of the declared effect.
    package var called: [EntityID] = []
    /// Operations of the request that are no longer pending. They have no outcome.
    package var ended: Set<SequenceNumber> = []

    /// A stream that a request writes.
    package struct Stream: Sendable, Hashable {
        package var entity: EntityID?
        /// The stream property, or nil for the stream of a media entity.
        package var property: String?
        package var content: StreamContent?

        package init(entity: EntityID? = nil, property: String? = nil, content: StreamContent? = nil) {
            self.entity = entity
            self.property = property
            self.content = content
        }
    }

    package init(
        contentID: String, operation: SequenceNumber, carries: [SequenceNumber] = [], effect: BatchPrepared.Effect,
        creates: NewEntity? = nil, body: EntityBody? = nil, wire: WireRequest? = nil
    ) {
        self.contentID = contentID
        self.operation = operation
        self.carries = carries
        self.effect = effect
        self.creates = creates
        self.body = body
        self.wire = wire
    }

    package init(_ request: PlannedRequest, _ wire: WireRequest?) {
        let action = request.modification.action
        (contentID, operation, carries) = (request.contentID, request.operation, request.carries)
        (effect, references) = (BatchPrepared.Effect(action), BatchPrepared.References(action))
        (creates, body, called) = (request.newEntity, action.createdBody, request.called)
        self.wire = wire
        if case .invoke(let invocation) = action { self.invocation = invocation }
        if let head = request.modification.stream {
            stream = Stream(entity: request.entity, property: head.property, content: request.content)
        }
    }

    /// The operations that the request performs.
    package var operations: [SequenceNumber] {
        let all = [operation] + carries
        return ended.isEmpty ? all : all.filter { !ended.contains($0) }
    }

    package var writesStream: Bool { stream != nil }
}

extension DataModification.Action {
    fileprivate var createdBody: EntityBody? {
        switch self {
        case .create(_, let body), .createRelated(_, _, let body): body
        case .update, .delete, .link, .unlink, .invoke: nil
        }
    }
}
