public import EDM
public import Operations

/// An entity as it stands: what the service last said with the pending operations on top.
public struct EntityRow: Sendable, Hashable {
    public var id: EntityID
    public var set: String
    public var type: String
    public var values: PropertyValues
    public var etag: String?
    public var editLink: String?
    public var origin: Origin
    /// The record of a download that last brought the entity anew or changed it; 0 for none. Says with
    /// ``StateHeader/lastDownload`` whether that was the last download.
    public var downloaded: SequenceNumber

    public enum Origin: UInt8, Sendable, Hashable {
        /// Created here; the service does not know it yet.
        case local = 0
        /// The service knows it: downloaded, or created here and confirmed.
        case service = 1
        /// The service knows it no longer, or it left every defining query, but operations on it are still pending.
        case gone = 2
        /// The service knows it, and its ETag is older than a change that we made ourselves: to be read again before the
        /// next conditional request.
        case serviceWithStaleETag = 3

        public var isOnService: Bool { self == .service || self == .serviceWithStaleETag }
    }

    public init(
        id: EntityID, set: String, type: String, values: PropertyValues, etag: String? = nil, editLink: String? = nil,
        origin: Origin, downloaded: SequenceNumber = 0
    ) {
        self.id = id
        self.set = set
        self.type = type
        self.values = values
        self.etag = etag
        self.editLink = editLink
        self.origin = origin
        self.downloaded = downloaded
    }

    /// ETags and links are equal if their code units are.
    public static func == (a: EntityRow, b: EntityRow) -> Bool {
        a.id == b.id && a.set == b.set && a.type == b.type && a.origin == b.origin && a.downloaded == b.downloaded
            && a.etag.isExactly(b.etag) && a.editLink.isExactly(b.editLink) && a.values == b.values
    }
}

/// What an entity was without the pending operations, kept while there are any.
public enum BaseState: Sendable, Hashable {
    /// The service does not hold it.
    case absent
    case row(EntityRow)
}

/// An entity with what the service last said of it.
public struct ServiceEntity: Sendable, Hashable {
    public var id: EntityID
    public var set: String
    /// Nil where the service does not have it.
    public var row: EntityRow?

    public init(id: EntityID, set: String, row: EntityRow?) {
        self.id = id
        self.set = set
        self.row = row
    }
}

/// A link between two entities under its relationship's name, from the relationship's first end to its second.
public struct LinkRow: Sendable, Hashable {
    public var relationship: String
    public var first: EntityID
    public var second: EntityID
    /// What the service last said.
    public var inBase: Bool
    /// With the pending operations on top.
    public var inLocal: Bool

    public init(relationship: String, first: EntityID, second: EntityID, inBase: Bool, inLocal: Bool) {
        self.relationship = relationship
        self.first = first
        self.second = second
        self.inBase = inBase
        self.inLocal = inLocal
    }
}

/// An operation that has not ended, with what is known of it.
public struct PendingOperation: Sendable, Hashable {
    public var sequence: SequenceNumber
    public var time: Timestamp
    public var operation: Operation
    public var status: Status
    /// When it came into the status: the time of the record that said so.
    public var since: Timestamp

    public enum Status: Sendable, Hashable {
        /// Waits for the next upload.
        case pending
        /// Sent, or about to be; no answer yet.
        case inFlight(BatchID)
        /// The answer never came.
        case inDoubt(BatchID, reason: String)
        /// Refused by the service; stays until it is amended, retried or undone.
        case rejected(Refusal)
        /// Refused for a while only; goes again by itself. `attempts` counts how often in a row.
        case deferred(Refusal, attempts: Int)

        /// Which of the cases it is. The numbers stand in the views.
        public enum Kind: Int64, Sendable, Hashable {
            case pending = 0
            case inFlight = 1
            case inDoubt = 2
            case rejected = 3
            case deferred = 4
        }

        public var kind: Kind {
            switch self {
            case .pending: .pending
            case .inFlight: .inFlight
            case .inDoubt: .inDoubt
            case .rejected: .rejected
            case .deferred: .deferred
            }
        }
    }

    /// - Parameter since: nil for the time at which it was made.
    public init(
        sequence: SequenceNumber, time: Timestamp, operation: Operation, status: Status, since: Timestamp? = nil
    ) {
        self.sequence = sequence
        self.time = time
        self.operation = operation
        self.status = status
        self.since = since ?? time
    }
}

/// An operation that the app took back, with what it takes to put it back.
public struct UndoneOperation: Sendable, Hashable {
    /// As it is again once it is redone, the service's refusal included.
    public var operation: PendingOperation
    /// The record that undid it: what one call undid has one number.
    public var undo: SequenceNumber

    public init(operation: PendingOperation, undo: SequenceNumber) {
        self.operation = operation
        self.undo = undo
    }

    public var sequence: SequenceNumber { operation.sequence }
}

/// A batch of which not every operation's outcome is known.
public struct OpenBatch: Sendable, Hashable {
    public var prepared: BatchPrepared
    /// Where the service tells its answer, where it took the batch to work on it in its own time.
    public var monitor: String?

    public init(_ prepared: BatchPrepared, monitor: String? = nil) {
        self.prepared = prepared
        self.monitor = monitor
    }

    public var batch: BatchID { prepared.batch }
}

/// A defining query with where its last download stands.
public struct QueryState: Sendable, Hashable {
    public var query: DefiningQuery
    /// The sequence number of the last full download that it took part in; 0 before the first. What the query brings is
    /// covered with it, also by the deltas that follow.
    public var run: SequenceNumber
    /// Whether the last download came to its end.
    public var isComplete: Bool
    /// Whether the last download was one of changes only.
    public var isDelta: Bool
    /// Where what has changed since the last download is to be had.
    public var deltaLink: ServiceLink?
    /// Where a download goes on that was interrupted: the page behind the last one that came whole.
    public var next: ServiceLink?
    /// When a download of it last came to its end; nil before the first, and where what it brought may not be all any more.
    public var downloaded: Timestamp?

    /// A URL that the service gave, as it wrote it.
    public struct ServiceLink: Sendable, Hashable {
        public var url: String
        /// When it was logged: services forget such links after a while.
        public var time: Timestamp

        public init(url: String, time: Timestamp) {
            self.url = url
            self.time = time
        }
    }

    public init(
        query: DefiningQuery, run: SequenceNumber = 0, isComplete: Bool = false, isDelta: Bool = false,
        deltaLink: ServiceLink? = nil, next: ServiceLink? = nil, downloaded: Timestamp? = nil
    ) {
        self.query = query
        self.run = run
        self.isComplete = isComplete
        self.isDelta = isDelta
        self.deltaLink = deltaLink
        self.next = next
        self.downloaded = downloaded
    }
}

/// The counters and the service of a state.
public struct StateHeader: Sendable, Hashable {
    /// The last record that the state contains; 0 for none.
    public var applied: SequenceNumber
    /// The lowest entity ID that no record has used.
    public var nextEntity: EntityID
    public var nextBatch: BatchID
    public var service: ServiceDescription?
    /// What the next upload waits for.
    public var postponed: Postponement?
    /// The record with which the last download began; 0 before the first.
    public var lastDownload: SequenceNumber

    public init(
        applied: SequenceNumber = 0, nextEntity: EntityID = EntityID(rawValue: 1), nextBatch: BatchID = 1,
        service: ServiceDescription? = nil, postponed: Postponement? = nil, lastDownload: SequenceNumber = 0
    ) {
        self.applied = applied
        self.nextEntity = nextEntity
        self.nextBatch = nextBatch
        self.service = service
        self.postponed = postponed
        self.lastDownload = lastDownload
    }
}

extension EntityRow {
    /// Whether the last download brought the entity anew or changed it (`sap.upsertedlastdownload()`).
    public func isUpserted(inLastDownloadOf header: StateHeader) -> Bool {
        downloaded > 0 && downloaded >= header.lastDownload
    }
}
