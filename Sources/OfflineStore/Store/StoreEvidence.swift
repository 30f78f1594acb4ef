import EDM
import ODataQuery
import ODataWire
import OperationLog
package import Operations
import SyncCore

/// The evidence of the state and the log about creates in doubt.
package struct StoreEvidence {
    let state: WorkingSet
    let model: EntityDataModel
    /// Opens the log.
    let log: () throws(LogError) -> LogReader

    /// The time from which the store has had an entity of the service, relative to a batch.
    package enum PriorKnowledge {
        /// The store does not have the entity.
        case none
        /// The store has had it since before the batch was prepared, or created it by an operation, so it is another
        /// entity.
        case other
        /// A download has stored it since, so it may be the result of the batch. The created entity can replace it if no
        /// operation refers to it, and it can take over its links.
        case broughtSince(EntityID, isReplaceable: Bool)
    }

    /// Returns the time relation of entities that the service has.
    ///
    /// - Parameters:
    ///   - payloads: Entities of the set.
    ///   - container: The container of the entities, if the set is a contained one.
    ///   - creation: The create in doubt.
    /// - Returns: One value for each entity.
    func priorKnowledge(
        of payloads: [EntityPayload], in set: EntitySet, container: EntityID?, besides creation: PendingOperation
    ) throws -> [PriorKnowledge] {
        let known = try payloads.map { payload in
            try entity(of: payload, in: set, container: container)
        }
        // Entity IDs ascend, so a smaller one is older than the operation.
        let unclear = known.compactMap { $0 }.filter { $0 > creation.operation.subject }
        let others = unclear.isEmpty ? [] : knownBefore(of: Set(unclear), creation).others
        return try known.map { id in
            // The new entity itself is found by its key too, in a contained set already before its confirmation.
            guard let id, id != creation.operation.subject else { return .none }
            guard unclear.contains(id), !others.contains(id) else { return .other }
            return .broughtSince(id, isReplaceable: try isReplaceable(id, by: creation.operation.subject))
        }
    }

    /// Returns whether the created entity can take the place of a downloaded one, which has no operations then. Links
    /// that the created one lacks are taken over with the queries that delivered the downloaded one.
    private func isReplaceable(_ id: EntityID, by created: EntityID) throws -> Bool {
        guard try state.pendingOperations(naming: id).isEmpty else { return false }
        let links = try state.links(of: created).filter(\.inLocal)
        let lacking = try state.links(of: id).filter { link in
            let (first, second) = link.first == id ? (created, link.second) : (link.first, created)
            return !links.contains {
                $0.relationship == link.relationship && $0.first == first && $0.second == second
            }
        }
        guard !lacking.isEmpty else { return true }
        let others = lacking.flatMap { [$0.first, $0.second] }
        let isContained = try others.contains { other in
            guard let row = try state.row(other) else { return true }
            return model.findEntitySet(row.set)?.isContained ?? true
        }
        guard !isContained else { return false }
        return try state.bookkeeping.queries().contains { try state.bookkeeping.isCovered(id, by: $0.query.name) }
    }

    /// Returns the time at which the batch in doubt was prepared. Nil if the log no longer contains it, or if the
    /// service had accepted the batch, so that the time does not limit its processing.
    func sendingTime(of creation: PendingOperation) -> Timestamp? {
        knownBefore(of: [], creation).sent
    }

    private func entity(
        of payload: EntityPayload, in set: EntitySet, container: EntityID?
    ) throws -> EntityID? {
        let type = set.entityType
        if set.isContained {
            guard let container, let key = KeyPredicate(of: type, in: payload.values) else { return nil }
            return try state.entity(of: set, key: key, in: container)
        }
        guard let key = KeyText.of(payload.values, type: type) else { return nil }
        return try state.entity(set: set.name, key: key)
    }

    /// Returns the entities that the store had before the batch in doubt was prepared or created by its own operations,
    /// and the time of the preparation, which is nil if the service had accepted the batch. Records that a compaction
    /// removed or that are unreadable are missing.
    private func knownBefore(
        of entities: Set<EntityID>, _ creation: PendingOperation
    ) -> (sent: Timestamp?, others: Set<EntityID>) {
        guard let batch = creation.status.batch, let cursor = try? log().records(from: creation.sequence) else {
            return (nil, [])
        }
        var (left, others): (Set<EntityID>, Set<EntityID>) = (entities, [])
        var progress = BatchProgress(batch)
        while !progress.hasEnded || !left.isEmpty, let record = try? cursor.next() {
            guard let kind = RecordCodec.RecordKind(rawValue: record.kind), !progress.apply(record, kind), !left.isEmpty
            else {
                continue
            }
            record.payload.withUnsafeBytes { payload in
                _ = RecordMentions.visit(
                    kind: record.kind, payload: payload,
                    entity: { number in
                        guard let id = left.remove(EntityID(rawValue: number)) else { return }
                        if progress.prepared == nil || kind == .operation { others.insert(id) }
                    }, operation: { _ in })
            }
        }
        return (progress.isAccepted ? nil : progress.prepared, others)
    }

    /// Returns the content of a create, with the frequency of its values in the store.
    ///
    /// - Parameter doubtful: Entities that are not known to exist on the service.
    func content(
        of creation: Creation, besides doubtful: Set<EntityID>
    ) throws -> SentContent? {
        guard let type = model.findEntityType(creation.type) else { return nil }
        return try SentContent(creation, type) { property, value throws(StateError) in
            guard !property.isCollection, value.isCountable else { return (0, 0) }
            // A later entity is a twin, or the created entity itself.
            let same = try state.findRows(set: creation.set, where: [(property.name, value)]).filter {
                !doubtful.contains($0) && $0 < creation.entity
            }
            return same.isEmpty ? (0, 0) : (same.count, try state.rows(set: creation.set).count)
        }
    }

    /// Returns whether the store has a keyless entity of the set on the service that could match the sent content.
    func hasKeyless(like content: SentContent, in set: EntitySet) throws -> Bool {
        guard try state.mayHaveKeyless(set: set.name) else { return false }
        return try state.rows(set: set.name).contains { id in
            guard let row = try state.row(id), row.origin.isOnService,
                KeyText.of(row.values, type: set.entityType) == nil,
                case .alike = content.resemblance(of: EntityPayload(values: row.values))
            else { return false }
            return true
        }
    }

    /// Returns whether a defining query has downloaded all entities of a set.
    func knowsWhole(_ set: EntitySet) throws -> Bool {
        try state.bookkeeping.queries().contains { query in
            guard query.isComplete, query.downloaded != nil,
                let request = try? ServiceRequest.parse(query.query.query, model: model, version: model.version),
                case .entitySet(let whole)? = request.path.segments.first, request.path.segments.count == 1
            else { return false }
            let options = request.options
            return whole == set && options.filter == nil && options.search == nil && options.top == nil
                && options.skip == nil && options.apply.isEmpty
        }
    }
}

extension Value {
    /// Whether the store can count the rows with the value.
    fileprivate var isCountable: Bool {
        switch self {
        case .string, .boolean, .integer, .guid, .date, .dateTime, .dateTimeOffset: true
        default: false
        }
    }
}

/// The progress of one batch in the log until its operations are in doubt.
private struct BatchProgress {
    let batch: BatchID
    private(set) var prepared: Timestamp?
    private(set) var isAccepted = false
    private(set) var hasEnded = false
    private let decoder = RecordDecoder()

    init(_ batch: BatchID) { self.batch = batch }

    /// Processes a record. Returns whether it is a batch record.
    mutating func apply(_ record: LogRecord, _ kind: RecordCodec.RecordKind) -> Bool {
        guard kind.isOfBatch else { return false }
        guard !hasEnded, let decoded = try? decoder.decode(kind: record.kind, payload: record.payload) else {
            return true
        }
        switch decoded.body {
        case .batchPrepared(let body) where body.batch == batch: prepared = decoded.time
        case .batchAccepted(let body) where body.batch == batch: isAccepted = true
        case .batchInterrupted(let body) where body.batch == batch: hasEnded = true
        case .batchAnswered(let body) where body.batch == batch: hasEnded = true
        default: break
        }
        return true
    }
}

extension RecordCodec.RecordKind {
    fileprivate var isOfBatch: Bool {
        switch self {
        case .batchPrepared, .batchAccepted, .batchAnswered, .batchInterrupted: true
        default: false
        }
    }
}
