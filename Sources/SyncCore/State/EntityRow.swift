public import EDM
package import Operations

/// An entity in its current state, or in its base state.
///
/// `@usableFromInline`, because otherwise the compiler does not inline the ETag and the link in other modules.
@usableFromInline
package struct EntityRow: Sendable, Hashable {
    package var id: EntityID
    /// The set and the type.
    @usableFromInline package var kind: EntityKind
    package var values: PropertyValues
    @usableFromInline var storedETag: OptionalText
    @usableFromInline var storedEditLink: OptionalText
    package var origin: Origin
    /// The last record of a download that added or changed the entity; 0 for none. Compared with
    /// ``StateHeader/lastDownload``, it shows whether that was the last download.
    package var downloaded: SequenceNumber

    package enum Origin: UInt8, Sendable, Hashable {
        /// Created in this store; the service does not have it yet.
        case local = 0
        /// The service has it: downloaded, or created in this store and confirmed.
        case service = 1
        /// The service no longer has it, or it left every defining query, but operations on it are still pending.
        case gone = 2
        /// The service has it, but the ETag is older than a change by this store. The entity has to be read before the
        /// next conditional request.
        case serviceWithStaleETag = 3

        package var isOnService: Bool { self == .service || self == .serviceWithStaleETag }
    }

    @inlinable package var set: String { kind.set }

    package var type: String {
        @inlinable get { kind.type }
        set { kind = kind.with(set: kind.set, type: newValue) }
    }

    @inlinable package var etag: String? {
        get { storedETag.text }
        set { storedETag = OptionalText(newValue) }
    }

    @inlinable package var editLink: String? {
        get { storedEditLink.text }
        set { storedEditLink = OptionalText(newValue) }
    }

    /// Whether the row has an editLink of its own. Unlike a comparison with nil, this does not copy the link.
    @inlinable package var hasEditLink: Bool { storedEditLink.isPresent }

    /// Whether the row has an ETag, like ``hasEditLink``.
    @inlinable package var hasETag: Bool { storedETag.isPresent }

    /// Creates a row that shares its set and type with no other one.
    package init(
        id: EntityID, set: String, type: String, values: PropertyValues, etag: String? = nil, editLink: String? = nil,
        origin: Origin, downloaded: SequenceNumber = 0
    ) {
        self.init(
            id: id, EntityKind(set: set, type: type), values: values, etag: etag, editLink: editLink, origin: origin,
            downloaded: downloaded)
    }

    /// Creates a row with the set and type of other rows.
    package init(
        id: EntityID, _ kind: EntityKind, values: PropertyValues, etag: String? = nil, editLink: String? = nil,
        origin: Origin, downloaded: SequenceNumber = 0
    ) {
        self.id = id
        self.kind = kind
        self.values = values
        storedETag = OptionalText(etag)
        storedEditLink = OptionalText(editLink)
        self.origin = origin
        self.downloaded = downloaded
    }

    /// Returns whether both rows are equal. ETags and links are compared by their code units.
    @usableFromInline
    package static func == (a: EntityRow, b: EntityRow) -> Bool {
        a.id == b.id && a.kind == b.kind && a.origin == b.origin && a.downloaded == b.downloaded
            && a.etag.isExactly(b.etag) && a.editLink.isExactly(b.editLink) && a.values == b.values
    }
}

/// The set and the type of an entity.
///
/// Immutable, and a class, so that all rows of a set and type can share one object: a copy of a row retains one
/// reference for both, and equal objects are mostly recognized by their identity.
@usableFromInline
package final class EntityKind: Sendable, Hashable {
    @usableFromInline package let set: String
    @usableFromInline package let type: String

    package init(set: String, type: String) {
        self.set = set
        self.type = type
    }

    /// Returns this object if it has the same texts, otherwise a new one.
    func with(set: String, type: String) -> EntityKind {
        isAbout(set, type) ? self : EntityKind(set: set, type: type)
    }

    /// Returns whether the set and the type are these. Compares code units, because a shared kind replaces the texts.
    @usableFromInline
    package func isAbout(_ set: String, _ type: String) -> Bool {
        self.set.isExactly(set) && self.type.isExactly(type)
    }

    @inlinable
    package static func == (a: EntityKind, b: EntityKind) -> Bool { a === b || a.isAbout(b.set, b.type) }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        hasher.combine(set)
        hasher.combine(type)
    }
}

/// The kind and the values of an entity.
struct EntityContent {
    let kind: EntityKind
    let values: PropertyValues
}

/// The base state of an entity, stored while pending operations change it.
package enum BaseState: Sendable, Hashable {
    /// The service does not have the entity.
    case absent
    /// Indirect, because most pending operations create their entities, and tables of base states should be small.
    indirect case row(EntityRow)
}

/// An entity with its base state.
package struct ServiceEntity: Sendable, Hashable {
    package var id: EntityID
    package var set: String
    /// The base state, or nil if the service does not have the entity.
    package var row: EntityRow?

    package init(id: EntityID, set: String, row: EntityRow?) {
        self.id = id
        self.set = set
        self.row = row
    }
}

/// A link between two entities, stored by relationship, from the relationship's first end to its second.
package struct LinkRow: Sendable, Hashable {
    package var relationship: String
    package var first: EntityID
    package var second: EntityID
    /// A Boolean value that indicates whether the link is part of the base state.
    package var inBase: Bool
    /// A Boolean value that indicates whether the link is part of the current state.
    package var inLocal: Bool

    package init(relationship: String, first: EntityID, second: EntityID, inBase: Bool, inLocal: Bool) {
        self.relationship = relationship
        self.first = first
        self.second = second
        self.inBase = inBase
        self.inLocal = inLocal
    }
}

/// An operation that has not ended, with its status.
package struct PendingOperation: Sendable, Hashable {
    package var sequence: SequenceNumber
    package var time: Timestamp
    package var operation: Operation
    package var status: Status
    /// The time of the record that set the current status.
    package var since: Timestamp

    /// The cases with texts are indirect, because few operations have them.
    package enum Status: Sendable, Hashable {
        /// Waits for the next upload.
        case pending
        /// Sent, or about to be sent; no response yet.
        case inFlight(BatchID)
        /// Sent, but the response was lost.
        indirect case inDoubt(BatchID, reason: String)
        /// Rejected by the service. The operation stays until it is amended, retried or undone.
        indirect case rejected(Refusal)
        /// Rejected for a limited time and sent again automatically. `attempts` is the number of consecutive
        /// rejections.
        indirect case deferred(Refusal, attempts: Int)

        /// The case without its values. The raw values are stored in the views.
        package enum StatusKind: Int64, Sendable, Hashable {
            case pending = 0
            case inFlight = 1
            case inDoubt = 2
            case rejected = 3
            case deferred = 4
        }

        package var kind: StatusKind {
            switch self {
            case .pending: .pending
            case .inFlight: .inFlight
            case .inDoubt: .inDoubt
            case .rejected: .rejected
            case .deferred: .deferred
            }
        }
    }

    /// - Parameter since: The time of the status, or nil for the time of the operation.
    package init(
        sequence: SequenceNumber, time: Timestamp, operation: Operation, status: Status, since: Timestamp? = nil
    ) {
        self.sequence = sequence
        self.time = time
        self.operation = operation
        self.status = status
        self.since = since ?? time
    }
}

/// An undone operation, with the information that a redo needs.
package struct UndoneOperation: Sendable, Hashable {
    /// The operation as a redo restores it, including the service's rejection.
    package var operation: PendingOperation
    /// The record of the undo. Operations undone by one call have the same number.
    package var undo: SequenceNumber

    package init(operation: PendingOperation, undo: SequenceNumber) {
        self.operation = operation
        self.undo = undo
    }

    package var sequence: SequenceNumber { operation.sequence }
}

/// A batch with operations whose outcome is unknown.
package struct OpenBatch: Sendable, Hashable {
    package var prepared: BatchPrepared
    /// The URL of the status monitor, if the service processes the batch asynchronously.
    package var monitor: String?
    /// The effects of the operations that downloads have shown since the batch was prepared, ascending.
    package var shown: [ShownEffect]

    package init(_ prepared: BatchPrepared, monitor: String? = nil, shown: [ShownEffect] = []) {
        self.prepared = prepared
        self.monitor = monitor
        self.shown = shown
    }

    package var batch: BatchID { prepared.batch }
}

/// A value or a link of an entity that a sent operation sets or removes, and that a download has delivered since.
package struct ShownEffect: Sendable, Hashable, Comparable {
    package var entity: EntityID
    /// The property, or the navigation property of a link.
    package var name: String
    /// The target of a link; nil for a value.
    package var target: EntityID?

    package init(entity: EntityID, name: String, target: EntityID? = nil) {
        self.entity = entity
        self.name = name
        self.target = target
    }

    package static func < (a: ShownEffect, b: ShownEffect) -> Bool {
        if a.entity != b.entity { return a.entity < b.entity }
        if a.name != b.name { return a.name < b.name }
        return (a.target?.rawValue ?? 0) < (b.target?.rawValue ?? 0)
    }
}

/// A defining query and the state of its last download.
package struct QueryState: Sendable, Hashable {
    package var query: DefiningQuery
    /// The sequence number of the last full download of the query; 0 before the first one. Entities that the query
    /// delivers are covered with this number, including those of later deltas.
    package var run: SequenceNumber
    /// A Boolean value that indicates whether the last download is complete.
    package var isComplete: Bool
    /// A Boolean value that indicates whether the last download was a delta.
    package var isDelta: Bool
    /// The link to the changes since the last download.
    package var deltaLink: ServiceLink?
    /// The link at which an interrupted download resumes: to the page after the last complete one.
    package var next: ServiceLink?
    /// The time at which the query was last downloaded completely; nil before the first download, and if the downloaded
    /// entities may be incomplete.
    package var downloaded: Timestamp?

    /// A URL exactly as the service sent it.
    package struct ServiceLink: Sendable, Hashable {
        package var url: String
        /// The time at which the link was logged. Services invalidate such links after some time.
        package var time: Timestamp

        package init(url: String, time: Timestamp) {
            self.url = url
            self.time = time
        }
    }

    package init(
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

/// The counters of a state, and its service.
package struct StateHeader: Sendable, Hashable {
    /// The last record that the state contains, or 0 for none.
    package var applied: SequenceNumber
    /// The lowest entity ID that no record has used.
    package var nextEntity: EntityID
    package var nextBatch: BatchID
    package var service: ServiceDescription?
    /// The reason to postpone the next upload, if any.
    package var postponed: Postponement?
    /// The record that started the last download, or 0 before the first one.
    package var lastDownload: SequenceNumber

    package init(
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
    /// Returns whether the last download added or changed the entity (`sap.upsertedlastdownload()`).
    package func isUpserted(inLastDownloadOf header: StateHeader) -> Bool {
        downloaded > 0 && downloaded >= header.lastDownload
    }
}
