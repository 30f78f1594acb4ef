public import ODataWire
public import Operations

/// What the next batch will carry, and what stays behind and why.
public struct UploadPlan: Sendable, Hashable {
    /// In the order in which they stand in the batch.
    public var changeSets: [PlannedChangeSet]
    /// The operations that this round leaves out, with the reason.
    public var held: [SequenceNumber: HoldReason]
    /// Entities whose ETag is older than our own last change: read them, and their operations can go.
    public var entitiesToRead: [EntityID]
    /// Operations that cancel each other out: nothing of them is to be sent, and they can be recorded as ended.
    public var elided: [SequenceNumber] = []

    public init(
        changeSets: [PlannedChangeSet] = [], held: [SequenceNumber: HoldReason] = [:], entitiesToRead: [EntityID] = []
    ) {
        self.changeSets = changeSets
        self.held = held
        self.entitiesToRead = entitiesToRead
    }

    public var isEmpty: Bool { changeSets.isEmpty }

    /// Whether it is about a stream. Such a request goes by itself: a batch holds no streams.
    public var writesStream: Bool {
        changeSets.contains { $0.requests.contains { $0.modification.stream != nil } }
    }

    /// The record to be logged before the first byte is sent.
    public func prepared(as batch: BatchID) -> BatchPrepared {
        BatchPrepared(
            batch: batch,
            changeSets: changeSets.map { changeSet in
                changeSet.requests.flatMap { request in
                    request.operations.map { BatchPrepared.Request(contentID: request.contentID, operation: $0) }
                }
            })
    }
}

/// How much of the queue a plan looks at. The batch is the same.
public enum PlanReach: Sendable, Hashable {
    /// Until the batch is full: what is behind has no reason in ``UploadPlan/held``. Time and memory go with the batch and
    /// not with the queue.
    case batch
    /// All of it: the plan says of each operation that is not in the batch why.
    case queue
}

/// Requests that take effect together or not at all.
public struct PlannedChangeSet: Sendable, Hashable {
    public var requests: [PlannedRequest]

    public init(requests: [PlannedRequest]) { self.requests = requests }

    /// The operations that the requests carry out, each once, in the order in which they were made.
    public var operations: [SequenceNumber] { Set(requests.flatMap(\.operations)).sorted() }
}

/// One request of a plan.
public struct PlannedRequest: Sendable, Hashable {
    /// A number, unique in the batch.
    public var contentID: String
    public var operation: SequenceNumber
    public var modification: DataModification
    /// The entity that the request creates; `$<contentID>` stands for it inside the change set.
    public var creates: EntityID?
    /// The entities that it creates below that one, level by level as its body has them.
    public var below: [NewEntity.Level]
    /// Further operations that the request carries out: a deep insert of what the app made one by one.
    public var carries: [SequenceNumber]
    /// The bytes that are the request's body; such a request stands in no batch.
    public var content: StreamContent?
    /// Of a request that writes a stream, the entity that it is a stream of.
    public var entity: EntityID?

    public init(
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
}

/// An entity that a request creates, with those that it creates inside of it.
public struct NewEntity: Sendable, Hashable {
    public var id: EntityID
    public var below: [Level]

    /// The new entities below one navigation property, in the order of the body.
    public struct Level: Sendable, Hashable {
        public var navigation: String
        public var entities: [NewEntity]

        public init(navigation: String, entities: [NewEntity]) {
            self.navigation = navigation
            self.entities = entities
        }
    }

    public init(_ id: EntityID, below: [Level] = []) {
        self.id = id
        self.below = below
    }
}

/// Why an operation is not in the batch.
public enum HoldReason: Sendable, Hashable, CustomStringConvertible {
    /// An earlier operation on the same entity has to be through first; the next round of the same upload follows.
    case waitsFor(SequenceNumber)
    /// An earlier operation on the same entity was refused.
    case behindRejected(SequenceNumber)
    /// Whether an earlier operation on the same entity took effect is not known.
    case behindInDoubt(SequenceNumber)
    /// The operation itself was refused and is not to be retried now.
    case rejected
    /// The service put the operation off; it goes again later.
    case deferred
    /// The service put an earlier operation on the same entity off.
    case behindDeferred(SequenceNumber)
    /// Whether the operation itself took effect is not known.
    case inDoubt
    /// An operation of the same change set or transaction was refused, or is in doubt.
    case withOperation(SequenceNumber)
    /// The entity's ETag must be read again first.
    case needsETag(EntityID)
    /// The service has no PATCH, and properties that a PUT would reset have never been read.
    case needsAllProperties(EntityID)
    /// The service, as its options describe it, has no request for this; the end of a sentence says why.
    case noLegalPlan(String)
    /// The entity that it refers to is known to the service, but its key is not known here.
    case keyUnknown(EntityID)
    /// The entity that it refers to is gone.
    case entityGone(EntityID)
    /// Somebody else has changed or deleted the entity as well, and nothing has been decided yet.
    case conflict(EntityID)
    /// An earlier operation on the same entity waits for the decision in a conflict.
    case behindConflict(SequenceNumber)
    /// The metadata do not have what the operation uses.
    case notInMetadata(String)
    /// A header of the request needs a key that the service has not given yet.
    case headerNeedsKey(EntityID)
    /// The app has not released it yet.
    case draft
    /// An earlier operation that it depends on is a draft.
    case behindDraft(SequenceNumber)
    /// It is for this store only.
    case localOnly
    /// The upload sends other categories only.
    case otherCategory
    /// An earlier operation that it depends on is of another category.
    case behindOtherCategory(SequenceNumber)
    /// The batch is full.
    case batchFull

    /// Whether the operation stays behind until somebody does something about it, not just until the next batch.
    var isFinal: Bool {
        switch self {
        case .rejected, .behindRejected, .deferred, .behindDeferred, .inDoubt, .behindInDoubt, .withOperation,
            .keyUnknown, .entityGone, .conflict, .behindConflict, .draft, .behindDraft, .localOnly, .otherCategory,
            .behindOtherCategory, .notInMetadata:
            true
        // What comes behind was made on a state that has it: without it the rest need not be legal.
        case .waitsFor, .needsETag, .needsAllProperties, .noLegalPlan, .headerNeedsKey, .batchFull: false
        }
    }

    public var description: String {
        switch self {
        case .waitsFor(let sequence): "waits for operation \(sequence)"
        case .behindRejected(let sequence): "held: operation \(sequence) before it was refused"
        case .behindInDoubt(let sequence): "held: the outcome of operation \(sequence) before it is not known"
        case .rejected: "refused by the service"
        case .deferred: "put off by the service; goes again later"
        case .behindDeferred(let sequence): "waits for operation \(sequence), which the service has put off"
        case .inDoubt: "in doubt: sent, but no answer came"
        case .withOperation(let sequence):
            "held: it goes together with operation \(sequence), which cannot go now"
        case .needsETag: "waits until the entity's ETag has been read again"
        case .needsAllProperties:
            "waits until all properties of the entity have been read, because the service has no PATCH"
        case .noLegalPlan(let why): "held: \(why)"
        case .keyUnknown(let entity): "held: the key that the service gave entity \(entity) is not known"
        case .entityGone(let entity): "held: entity \(entity) is no longer there"
        case .conflict(let entity):
            "held: others have changed or deleted entity \(entity) as well"
        case .behindConflict(let sequence): "held: operation \(sequence) before it is in conflict"
        case .notInMetadata(let name): "held: the metadata do not have the \(name)"
        case .headerNeedsKey(let entity): "waits until the service has given entity \(entity) a key, for a header"
        case .draft: "a draft, which has not been released"
        case .behindDraft(let sequence): "waits for operation \(sequence), which is a draft"
        case .localOnly: "for this store only"
        case .otherCategory: "not in the categories of the upload"
        case .behindOtherCategory(let sequence):
            "waits for operation \(sequence), which is not in the categories of the upload"
        case .batchFull: "waits for the next batch"
        }
    }
}
