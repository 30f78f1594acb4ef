public import EDM
public import Operations

/// The provenance of an entity: each change with its cause, and the last writer of each property and link.
public struct Provenance: Sendable {
    /// The ID of the entity in the store.
    public let entity: EntityID
    /// The entity set, or nil if no record contains it.
    public let set: String?
    /// The current name of the entity in queries: `Customers('ALFKI')`, or `Customers(~3)` if it has no key or does not
    /// exist.
    public let reference: String
    /// A Boolean value that indicates whether the entity exists in the store.
    public let exists: Bool
    /// The changes in the order of the log. Records that a compaction removed appear as one change, to the resulting
    /// state.
    public let changes: [Change]
    /// The current values and then the navigation properties of the entity; empty if it does not exist.
    public let lines: [Line]
    /// The aspects in which the current state differs from the known state of the service.
    let differing: Set<Aspect>
    /// The exchanges with the service of the operations on the entity and its partners, in order.
    public let exchanges: [SequenceNumber: [Exchange]]
    /// The outcomes of these operations.
    public let outcomes: [SequenceNumber: OperationOutcome]
    /// The first record that the log still has.
    public let first: SequenceNumber

    /// An aspect of an entity.
    public enum Aspect: Sendable, Hashable {
        /// The existence of the entity.
        case existence
        /// The value of a structural property.
        case property(String)
        /// A navigation property.
        case link(String)

        /// The name of the property; nil for ``existence``.
        public var name: String? {
            switch self {
            case .existence: nil
            case .property(let name), .link(let name): name
            }
        }
    }

    /// The content of an aspect.
    public enum AspectValue: Sendable, Hashable {
        /// Missing; an unset property.
        case absent
        /// The entity exists.
        case present
        /// The value of a property.
        case value(Value)
        /// The targets of a navigation property in order of their IDs, as named in queries.
        case entities([String])
    }

    /// A change of one aspect of the entity.
    public struct Change: Sendable, Hashable {
        /// The sequence number of the record.
        public let sequence: SequenceNumber
        /// The time of the record; nil if it has none.
        public let time: Timestamp?
        /// The changed aspect.
        public let aspect: Aspect
        /// The previous content. For a navigation property, only the removed targets.
        public let before: AspectValue
        /// The new content. For a navigation property, only the added targets.
        public let after: AspectValue
        /// The cause of the change.
        public let cause: Cause
        /// A Boolean value that indicates whether the change is visible in the store. If not, only the base state
        /// changed, below a pending operation with another value.
        public let isVisible: Bool
    }

    /// An aspect of the current state with its last writer.
    public struct Line: Sendable, Hashable {
        /// The aspect of the entity.
        public let aspect: Aspect
        /// The content. A navigation property with several targets has one line for each.
        public let content: AspectValue
        /// The last record that wrote the aspect, or nil if no remaining record did.
        public let sequence: SequenceNumber?
        /// The time of that record; nil if there is none or it has no time.
        public let time: Timestamp?
        /// The cause of the last write, or nil if no remaining record wrote the aspect.
        public let cause: Cause?
    }

    /// The cause of a change.
    public enum Cause: Sendable, Hashable {
        /// An operation of the app, by its number.
        case edit(SequenceNumber)
        /// A page of the defining query.
        case download(query: String)
        /// A download that no longer contained the entity, or the removal of a query.
        case leftQuery(query: String)
        /// A read of the entity outside a download.
        case read
        /// The entity does not exist on the service.
        case missing
        /// The service's response to the batch, and the local operation that it answers, if any.
        case answer(batch: BatchID, operation: SequenceNumber?)
        /// The key that the service assigned to a local entity, or a consequence of it.
        case key(batch: BatchID, operation: SequenceNumber?)
        /// The undo of these operations.
        case undo([SequenceNumber])
        /// The redo of these operations, which were undone before.
        case redo([SequenceNumber])
        /// Operations that cancelled each other out.
        case elision([SequenceNumber])
        /// The amendment of these pending operations.
        case amendment([SequenceNumber])
        /// The decision of a conflict.
        case conflict(ConflictDecision)
        /// A change of the metadata.
        case metadata
        /// The state at the time of a compaction.
        case compaction
        /// A record of another kind.
        case other(kind: String)

        /// The name: `edit`, `download`, `leftQuery`, `read`, `missing`, `answer`, `key`, `undo`, `redo`, `elision`,
        /// `amendment`, `conflict`, `metadata`, `compaction` or `other`.
        public var name: String {
            switch self {
            case .edit: "edit"
            case .download: "download"
            case .leftQuery: "leftQuery"
            case .read: "read"
            case .missing: "missing"
            case .answer: "answer"
            case .key: "key"
            case .undo: "undo"
            case .redo: "redo"
            case .elision: "elision"
            case .amendment: "amendment"
            case .conflict: "conflict"
            case .metadata: "metadata"
            case .compaction: "compaction"
            case .other: "other"
            }
        }

        /// The operation of the cause, if there is one.
        public var operation: SequenceNumber? {
            switch self {
            case .edit(let operation): operation
            case .answer(_, let operation), .key(_, let operation): operation
            default: nil
            }
        }
    }
}

/// The exchange with the service for an operation in one batch.
public struct Exchange: Sendable, Hashable {
    package let batch: BatchID
    /// The sequence number of the operation.
    public let operation: SequenceNumber
    /// The number of the prepared record; nil if the log no longer has it.
    public internal(set) var prepared: SequenceNumber?
    /// The number of the record with the response; nil if there is none.
    public internal(set) var answered: SequenceNumber?
    /// The time of the response.
    public internal(set) var answeredAt: Timestamp?
    /// `confirmed`, `rejected`, `deferred`, `notProcessed`, `inDoubt`, or `noAnswer`.
    public internal(set) var outcome = "noAnswer"
    /// The status of a rejection. The log does not contain the status of confirmed operations.
    public internal(set) var status: Int?
    /// The service's error code of a rejection.
    public internal(set) var code: String?
    /// The service's message, or the reason why the operation is in doubt.
    public internal(set) var message: String?
    /// The method of the request. It is known for repeatable requests and rejections.
    public internal(set) var method: String?
    /// The URL of the request, usually relative to the service root.
    public internal(set) var url: String?
    /// The request body. It is known under the same conditions as the method; nil for a request without a body.
    public internal(set) var body: [UInt8]?
    /// The rebuilt requests; nil unless requested, see ``InspectedStore/buildingRequests(of:)``.
    package internal(set) var built: BuiltRequests?
}
