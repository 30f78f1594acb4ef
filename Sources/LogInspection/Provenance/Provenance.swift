public import EDM
public import Operations

/// Why an entity is as it is: each change of it with its cause, and for each property and link who wrote it last.
public struct Provenance: Sendable {
    public let entity: EntityID
    /// Nil where no record says it.
    public let set: String?
    /// How a query names the entity now: `Customers('ALFKI')`, or `Customers(~3)` where it has no key or is not there.
    public let reference: String
    /// Whether the store shows the entity.
    public let exists: Bool
    /// In the order of the log. Of what a compaction removed there is one change, to the state that it left.
    public let changes: [Change]
    /// What the store shows of the entity, in the order of its values and then of its navigation properties; empty where it
    /// shows nothing.
    public let lines: [Line]
    /// What the store shows otherwise than the service has it, as far as is known.
    let differing: Set<Aspect>
    /// What became of the operations on the entity, and on those that it is linked to: their ways to the service, in order.
    public let exchanges: [SequenceNumber: [Exchange]]
    /// What became of these operations.
    public let fates: [SequenceNumber: OperationFate]
    /// The first record that the log still has.
    public let first: SequenceNumber

    /// A part of an entity.
    public enum Aspect: Sendable, Hashable {
        /// Whether it is there at all.
        case existence
        case property(String)
        /// A navigation property.
        case link(String)

        /// Nil for ``existence``.
        public var name: String? {
            switch self {
            case .existence: nil
            case .property(let name), .link(let name): name
            }
        }
    }

    /// What a part of an entity is.
    public enum Content: Sendable, Hashable {
        /// Not there; of a property: unset.
        case absent
        /// The entity is there.
        case present
        case value(Value)
        /// The entities that a navigation property leads to, in order of their IDs, as a query names them.
        case entities([String])
    }

    /// One part of the entity became another.
    public struct Change: Sendable, Hashable {
        /// Of the record that did it.
        public let sequence: SequenceNumber
        /// Of that record; nil where it has none.
        public let time: Timestamp?
        public let aspect: Aspect
        /// Of a navigation property the entities that it does not lead to any more, and no others.
        public let before: Content
        /// Of a navigation property the entities that it did not lead to before, and no others.
        public let after: Content
        public let cause: Cause
        /// Whether it is to be seen in the store. If not, only what is known of the service changed, below a pending
        /// operation that says otherwise.
        public let isVisible: Bool
    }

    /// Who wrote a part of the entity as the store shows it.
    public struct Line: Sendable, Hashable {
        public let aspect: Aspect
        /// Of a navigation property with several entities, each has a line.
        public let content: Content
        /// The last record that wrote it. Nil where no record that is left says so.
        public let sequence: SequenceNumber?
        public let time: Timestamp?
        public let cause: Cause?
    }

    /// Why something changed.
    public enum Cause: Sendable, Hashable {
        /// An operation of the app, by its number.
        case edit(SequenceNumber)
        /// A page of the defining query.
        case download(query: String)
        /// What a download did not bring any more, or a query that was removed.
        case leftQuery(query: String)
        /// The entity was read outside of a download.
        case read
        /// The service has no such entity.
        case missing
        /// What the service said in its answer to the batch, to the operation where it was about one of ours.
        case answer(batch: BatchID, operation: SequenceNumber?)
        /// The key that the service gave an entity that was created here, or what followed from it.
        case key(batch: BatchID, operation: SequenceNumber?)
        case undo([SequenceNumber])
        case redo([SequenceNumber])
        /// Operations cancelled each other out.
        case elision([SequenceNumber])
        case amendment([SequenceNumber])
        case conflict(ConflictResolved.Decision)
        /// The metadata changed.
        case metadata
        /// It was so when the log was compacted.
        case compaction
        /// A record of another kind.
        case other(kind: String)

        /// `edit`, `download`, `leftQuery`, `read`, `missing`, `answer`, `key`, `undo`, `redo`, `elision`, `amendment`,
        /// `conflict`, `metadata`, `compaction` or `other`.
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

        /// The operation that it is about, where it is one.
        public var operation: SequenceNumber? {
            switch self {
            case .edit(let operation): operation
            case .answer(_, let operation), .key(_, let operation): operation
            default: nil
            }
        }
    }
}

/// An operation on its way to the service and back, as one batch carried it.
public struct Exchange: Sendable, Hashable {
    public let batch: BatchID
    public let operation: SequenceNumber
    /// Of the record that says that it is about to be sent; nil where that is not in the log any more.
    public internal(set) var prepared: SequenceNumber?
    /// Of the record with the answer; nil where there is none.
    public internal(set) var answered: SequenceNumber?
    /// When that was.
    public internal(set) var answeredAt: Timestamp?
    /// `confirmed`, `rejected`, `deferred`, `notProcessed`, `inDoubt`, or `noAnswer`.
    public internal(set) var outcome = "noAnswer"
    /// Of a refusal; a log does not keep that of what was confirmed.
    public internal(set) var status: Int?
    public internal(set) var code: String?
    /// The service's words, or why it is in doubt.
    public internal(set) var message: String?
    /// Known where requests can be repeated, and of a refusal.
    public internal(set) var method: String?
    /// Relative to the service root as a rule.
    public internal(set) var url: String?
    /// Known where the method is; nil for a request without a body.
    public internal(set) var body: [UInt8]?
    /// What went over the line, built again; nil where nobody asked for it, see ``InspectedStore/buildingRequests(of:)``.
    public internal(set) var built: BuiltRequests?
}
