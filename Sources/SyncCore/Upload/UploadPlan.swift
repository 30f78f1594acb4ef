package import ODataWire
package import Operations

/// The content of the next batch, and the operations that are held with their reasons.
package struct UploadPlan: Sendable, Hashable {
    /// The change sets in their order in the batch.
    package var changeSets: [PlannedChangeSet]
    /// The operations that are not part of this round, with the reason.
    package var held: [SequenceNumber: HoldReason]
    /// Entities whose ETag is older than the last local change. Their operations can be sent after they were read.
    package var entitiesToRead: [EntityID]
    /// Operations that cancel each other out. They are not sent and can be recorded as ended.
    package var elided: [SequenceNumber] = []
    /// A Boolean value that indicates whether operations were coalesced beyond rejected ones.
    package var coalesces = false

    package init(
        changeSets: [PlannedChangeSet] = [], held: [SequenceNumber: HoldReason] = [:], entitiesToRead: [EntityID] = []
    ) {
        self.changeSets = changeSets
        self.held = held
        self.entitiesToRead = entitiesToRead
    }

    package var isEmpty: Bool { changeSets.isEmpty }

    /// A Boolean value that indicates whether the plan writes a stream. Such a request is sent on its own, because a
    /// batch cannot contain streams.
    package var writesStream: Bool {
        changeSets.contains { $0.requests.contains { $0.modification.stream != nil } }
    }

    /// Returns whether the next batches of the upload cannot contain the operation.
    package func holdsBack(_ operation: SequenceNumber) -> Bool {
        var (next, known): (SequenceNumber, Set<SequenceNumber>) = (operation, [])
        while known.insert(next).inserted, let reason = held[next] {
            switch reason {
            case .waitsFor(let earlier): next = earlier
            // The entity whose key a header needs may have been deleted.
            case .noLegalPlan, .headerNeedsKey: return true
            default: return reason.isFinal
            }
        }
        return false
    }

    /// Returns a plan with some of the change sets.
    package func part(_ changeSets: some Sequence<PlannedChangeSet>) -> UploadPlan {
        var part = UploadPlan(changeSets: Array(changeSets))
        part.coalesces = coalesces
        return part
    }

    /// Returns the record to log before the first byte is sent.
    package func prepared(as batch: BatchID) -> BatchPrepared {
        var prepared = BatchPrepared(
            batch: batch,
            changeSets: changeSets.map { changeSet in
                changeSet.requests.reduce(into: []) { $1.addLogged(to: &$0) }
            })
        prepared.coalesces = coalesces
        return prepared
    }
}

/// The part of the queue that a plan examines. It does not affect the batch.
package enum PlanScope: Sendable, Hashable {
    /// Until the batch is full. Later operations have no reason in ``UploadPlan/held``. Time and memory depend on the
    /// batch and not on the queue.
    case batch
    /// The whole queue. The plan contains the reason for each operation that is not in the batch.
    case queue
}

/// Requests that take effect all or none.
package struct PlannedChangeSet: Sendable, Hashable {
    package var requests: [PlannedRequest]

    package init(requests: [PlannedRequest]) { self.requests = requests }

    /// The operations that the requests perform, each once, in the order of their creation.
    package var operations: [SequenceNumber] {
        if requests.count == 1, requests[0].carries.isEmpty { return requests[0].operations }
        return Set(requests.flatMap(\.operations)).sorted()
    }
}

/// A request of a plan.
package struct PlannedRequest: Sendable, Hashable {
    /// A number that is unique in the batch.
    package var contentID: String
    package var operation: SequenceNumber
    package var modification: DataModification
    /// The entity that the request creates. `$<contentID>` refers to it inside the change set.
    package var creates: EntityID?
    /// The entities that the request creates below that one, level by level in the order of its body.
    package var below: [NewEntity.Level]
    /// Further operations that the request performs, for example a deep insert of entities that the app created
    /// individually.
    package var carries: [SequenceNumber]
    /// The content of the request body. A request with content is never part of a batch.
    package var content: StreamContent?
    /// The entity whose stream the request writes, if it writes one.
    package var entity: EntityID?
    /// The entities that a call is about: the bound one, and that of the declared effect.
    package var called: [EntityID] = []

    package init(
        contentID: String, operation: SequenceNumber, modification: DataModification, creates: EntityID?,
        below: [NewEntity.Level] = [], carries: [SequenceNumber] = []
    ) {
        self.contentID = contentID
        self.operation = operation
        self.modification = modification
        self.creates = creates
        self.below = below
        self.carries = carries
    }

    var operations: [SequenceNumber] { [operation] + carries }

    /// The entity that the request creates, with those below it.
    var newEntity: NewEntity? { creates.map { NewEntity($0, below: below) } }

    /// Adds the elements of the record: one for the request and one for each operation that it carries.
    fileprivate func addLogged(to logged: inout [BatchPrepared.Request]) {
        logged.append(
            BatchPrepared.Request(
                contentID: contentID, operation: operation, effect: BatchPrepared.Effect(modification.action),
                creates: newEntity, references: BatchPrepared.References(modification.action)))
        for carried in carries { logged.append(BatchPrepared.Request(contentID: contentID, operation: carried)) }
    }
}

extension BatchPrepared.References {
    init(_ action: DataModification.Action) {
        let (url, body) = (action.urlReference, action.bodyReferences)
        let contentID = url?.contentID
        self.init(
            contentIDInURL: contentID, hasContentIDInBody: body.contains(where: \.isBelowContentID),
            hasOthers: (url != nil && contentID == nil) || body.contains { !$0.isBelowContentID })
    }
}

extension BatchPrepared.Effect {
    init(_ action: DataModification.Action) {
        self =
            switch action {
            case .create, .createRelated: .create
            case .update: .update
            case .delete: .delete
            case .link: .link
            case .unlink: .unlink
            case .invoke: .invoke
            }
    }
}

/// The reason why an operation is not in the batch.
package enum HoldReason: Sendable, Hashable, CustomStringConvertible {
    /// An earlier operation on the same entity has to finish first. The operation follows in a later round of the same
    /// upload.
    case waitsFor(SequenceNumber)
    /// An earlier operation on the same entity was rejected.
    case behindRejected(SequenceNumber)
    /// The outcome of an earlier operation on the same entity is unknown.
    case behindInDoubt(SequenceNumber)
    /// The operation itself was rejected and is not retried now.
    case rejected
    /// The service deferred the operation. It is retried later.
    case deferred
    /// The service deferred an earlier operation on the same entity.
    case behindDeferred(SequenceNumber)
    /// The outcome of the operation itself is unknown.
    case inDoubt
    /// An operation of the same change set or transaction was rejected, or is in doubt.
    case withOperation(SequenceNumber)
    /// The entity's ETag has to be read first.
    case needsETag(EntityID)
    /// The service has no PATCH, and properties that a PUT would reset were never read.
    case needsAllProperties(EntityID)
    /// The service, according to its capabilities, supports no request for this. The value is the reason, as the end of
    /// a sentence.
    case noLegalPlan(String)
    /// A referenced entity exists on the service, but its key is unknown.
    case keyUnknown(EntityID)
    /// A referenced entity no longer exists.
    case entityGone(EntityID)
    /// Another client changed or deleted the entity too, and the conflict is undecided.
    case conflict(EntityID)
    /// An earlier operation on the same entity waits for a conflict decision.
    case behindConflict(SequenceNumber)
    /// The metadata lack an element that the operation uses.
    case notInMetadata(String)
    /// A header of the request requires a key that the service has not assigned yet.
    case headerNeedsKey(EntityID)
    /// The app has not released the operation yet.
    case draft
    /// An earlier operation that it depends on is a draft.
    case behindDraft(SequenceNumber)
    /// The operation is local only.
    case localOnly
    /// The upload is restricted to other categories.
    case otherCategory
    /// An earlier operation that it depends on is of another category.
    case behindOtherCategory(SequenceNumber)
    /// The batch is full.
    case batchFull

    /// Whether the operation is held until an action resolves the reason, and not only until the next batch.
    var isFinal: Bool {
        switch self {
        case .rejected, .behindRejected, .deferred, .behindDeferred, .inDoubt, .behindInDoubt, .withOperation,
            .keyUnknown, .entityGone, .conflict, .behindConflict, .draft, .behindDraft, .localOnly, .otherCategory,
            .behindOtherCategory, .notInMetadata:
            true
        // Later operations were made on a state that includes this one. Without it they may be illegal.
        case .waitsFor, .needsETag, .needsAllProperties, .noLegalPlan, .headerNeedsKey, .batchFull: false
        }
    }

    package var description: String {
        switch self {
        case .waitsFor(let sequence): "waits for operation \(sequence)"
        case .behindRejected(let sequence): "held back: operation \(sequence) before it was rejected"
        case .behindInDoubt(let sequence): "held back: the outcome of operation \(sequence) before it is not known"
        case .rejected: "rejected by the service"
        case .deferred: "postponed by the service; is sent again later"
        case .behindDeferred(let sequence): "waits for operation \(sequence), which the service postponed"
        case .inDoubt: "in doubt: sent, but no response was received"
        case .withOperation(let sequence):
            "held back: it must be sent together with operation \(sequence), which cannot be sent now"
        case .needsETag: "waits until the ETag of the entity has been read again"
        case .needsAllProperties:
            "waits until all properties of the entity have been read, because the service has no PATCH"
        case .noLegalPlan(let why): "held back: \(why)"
        case .keyUnknown(let entity): "held back: the key that the service assigned to entity \(entity) is not known"
        case .entityGone(let entity): "held back: entity \(entity) no longer exists"
        case .conflict(let entity):
            "held back: another client changed or deleted entity \(entity) too"
        case .behindConflict(let sequence): "held back: operation \(sequence) before it is in conflict"
        case .notInMetadata(let name): "held back: the metadata does not have the \(name)"
        case .headerNeedsKey(let entity):
            "waits until the service has assigned a key to entity \(entity), which a header contains"
        case .draft: "a draft that has not been released"
        case .behindDraft(let sequence): "waits for operation \(sequence), which is a draft"
        case .localOnly: "for this store only"
        case .otherCategory: "not in a category of the upload"
        case .behindOtherCategory(let sequence):
            "waits for operation \(sequence), which is not in a category of the upload"
        case .batchFull: "waits for the next batch"
        }
    }
}
