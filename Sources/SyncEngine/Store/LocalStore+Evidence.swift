import EDM
import ODataWire
import OperationLog
public import Operations
import SyncCore
import Views

/// The store's evidence about creates in doubt.
extension LocalStore {
    /// The time from which the store has had an entity of the service, relative to a batch.
    enum PriorKnowledge {
        /// The store does not have the entity.
        case none
        /// The store has had it since before the batch was prepared, or created it by an operation, so it is another
        /// entity.
        case other
        /// A download has stored it since, so it may be the result of the batch. It can be replaced by the created
        /// entity if it has no reference that the created one lacks.
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
        with payloads: [EntityPayload], of set: EntitySet, in container: EntityID?, besides creation: PendingOperation
    ) throws(TidelogError) -> [PriorKnowledge] {
        let known = try payloads.map { payload throws(TidelogError) in
            try entity(of: payload, in: set, container: container)
        }
        // Entity IDs ascend, so a smaller one is older than the operation.
        let unclear = known.compactMap { $0 }.filter { $0 > creation.operation.subject }
        let others = unclear.isEmpty ? [] : knownBefore(of: Set(unclear), creation).others
        return try known.map { id throws(TidelogError) in
            guard let id else { return .none }
            guard unclear.contains(id), !others.contains(id) else { return .other }
            return .broughtSince(id, isReplaceable: try isReplaceable(id, by: creation.operation.subject))
        }
    }

    /// Returns whether a downloaded entity has no operations, and only links that the created one has too.
    private func isReplaceable(_ id: EntityID, by created: EntityID) throws(TidelogError) -> Bool {
        try read { state in
            guard try state.pendingOperations(naming: id).isEmpty else { return false }
            let links = try state.links(of: created).filter(\.inLocal)
            return try state.links(of: id).allSatisfy { link in
                let (first, second) = link.first == id ? (created, link.second) : (link.first, created)
                return links.contains {
                    $0.relationship == link.relationship && $0.first == first && $0.second == second
                }
            }
        }
    }

    /// Returns the time at which the batch in doubt was prepared. Nil if the log no longer contains it, or if the
    /// service had accepted the batch, so that the time does not limit its processing.
    func sendingTime(of creation: PendingOperation) throws(TidelogError) -> Timestamp? {
        knownBefore(of: [], creation).sent
    }

    private func entity(
        of payload: EntityPayload, in set: EntitySet, container: EntityID?
    ) throws(TidelogError) -> EntityID? {
        let type = set.entityType
        return try read { state in
            if set.isContained {
                guard let container, let key = KeyPredicate(of: type, in: payload.values) else { return nil }
                return try state.entity(of: set, key: key, in: container)
            }
            guard let key = KeyText.of(payload.values, type: type) else { return nil }
            return try state.entity(set: set.name, key: key)
        }
    }

    /// Returns the entities that the store had before the batch in doubt was prepared or created by its own operations,
    /// and the time of the preparation, which is nil if the service had accepted the batch. Records that a compaction
    /// removed or that are unreadable are missing.
    private func knownBefore(
        of entities: Set<EntityID>, _ creation: PendingOperation
    ) -> (sent: Timestamp?, others: Set<EntityID>) {
        guard let batch = creation.status.batch, let cursor = try? reader().records(from: creation.sequence) else {
            return (nil, [])
        }
        var (left, others): (Set<EntityID>, Set<EntityID>) = (entities, [])
        var progress = BatchProgress(batch)
        while !progress.hasEnded || !left.isEmpty, let record = try? cursor.next() {
            guard let kind = RecordCodec.Kind(rawValue: record.kind), !progress.apply(record, kind), !left.isEmpty
            else {
                continue
            }
            record.payload.withUnsafeBytes { payload in
                _ = RecordMentions.visit(
                    kind: record.kind, payload: payload,
                    entity: { number in
                        guard let id = left.remove(EntityID(rawValue: number)) else { return }
                        if progress.prepared == nil || kind.isOperation { others.insert(id) }
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
    ) throws(TidelogError) -> SentContent? {
        guard let type = try model.findEntityType(creation.type) else { return nil }
        return try read { state throws in
            try SentContent(creation, type) { property, value throws(StateError) in
                guard !property.isCollection, value.isCountable else { return (0, 0) }
                // A later entity is a twin, or the created entity itself.
                let same = try state.findRows(set: creation.set, where: [(property.name, value)]).filter {
                    !doubtful.contains($0) && $0 < creation.entity
                }
                return same.isEmpty ? (0, 0) : (same.count, try state.rows(set: creation.set).count)
            }
        }
    }

    /// Returns whether the store has a keyless entity of the set on the service that could match the sent content.
    func hasKeyless(like content: SentContent, in set: EntitySet) throws(TidelogError) -> Bool {
        try read { state in
            guard try state.mayHaveKeyless(set: set.name) else { return false }
            return try state.rows(set: set.name).contains { id in
                guard let row = try state.row(id), row.origin.isOnService,
                    KeyText.of(row.values, type: set.entityType) == nil,
                    case .alike = content.resemblance(of: EntityPayload(values: row.values))
                else { return false }
                return true
            }
        }
    }

    /// Returns whether a defining query has downloaded all entities of a set.
    func knowsWhole(_ set: EntitySet) throws(TidelogError) -> Bool {
        let model = try model
        return try read { state in
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

    /// Returns the time for which the lost request of an operation in doubt may still be running.
    ///
    /// - Parameter sent: The time of transmission according to the log, or nil for the time at which the operation
    ///   became in doubt.
    func lostRequestWait(
        of pending: PendingOperation, sent: Timestamp?, seconds: Int
    ) -> LostRequestWait {
        let batch = pending.status.batch ?? 0
        let now = environment.now()
        let wait = LostRequestWait(
            sent: sent ?? pending.since, firstLook: firstLooks[batch], now: now, seconds: seconds)
        // The clock is before the log's time, so the wait is measured from this search.
        if (sent ?? pending.since) > now { firstLooks[batch] = wait.start }
        return wait
    }

    /// Returns the time from which the next upload can resolve each operation in doubt whose lost request may still be
    /// running.
    public func nextLooks() throws(TidelogError) -> [SequenceNumber: Timestamp] {
        let options = try serviceOptions
        let now = environment.now()
        var looks: [SequenceNumber: Timestamp] = [:]
        for members in try inDoubtSets() {
            guard let creation = members.first(where: { $0.isCreate }), case .inDoubt(_, let reason) = creation.status,
                !DoubtReason.isOfRefusal(reason), !DoubtReason.isLookedFor(reason),
                case .create(let created, _) = creation.operation.action, options.doubts(of: created.set) == .evidence
            else { continue }
            let sent = try sendingTime(of: creation)
            let wait = LostRequestWait(
                sent: sent ?? creation.since, firstLook: firstLooks[creation.status.batch ?? 0], now: now,
                seconds: options.lostRequestSeconds)
            if !wait.isOver(at: now) { for member in members { looks[member.sequence] = wait.end } }
        }
        return looks
    }

    /// Logs the result of a search for operations that stay in doubt, unless it is already logged.
    func logSearchResult(_ finding: String, of members: [PendingOperation]) async throws(TidelogError) {
        guard members.contains(where: { DoubtReason.adding(finding, to: $0) != $0.doubtReason }) else { return }
        try transaction { () throws -> Void in
            try self.addEvidence(finding, for: members)
            _ = try self.commit()
        }
        try await acknowledge()
    }

    /// Adds the result of a search for operations in doubt. It precedes the record that ends the doubt, if there is
    /// one.
    func addEvidence(_ finding: String, for members: [PendingOperation]) throws {
        for (batch, members) in Dictionary(grouping: members, by: { $0.status.batch ?? 0 }).sorted(by: {
            $0.key < $1.key
        }) {
            let outcomes = members.map {
                BatchAnswered.Outcome(operation: $0.sequence, result: .inDoubt(DoubtReason.adding(finding, to: $0)))
            }
            try add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
        }
    }
}

/// The reason of a doubt, followed by the result of a search. Logs contain the marker, so it must not change.
package enum DoubtReason {
    private static let marker = " Looked for at the service: "

    /// Returns the reason with a search result, which replaces an earlier one.
    static func adding(_ finding: String, to pending: PendingOperation) -> String {
        let reason = pending.doubtReason
        return (reason.firstRange(of: marker).map { String(reason[..<$0.lowerBound]) } ?? reason) + marker + finding
    }

    static func isLookedFor(_ reason: String) -> Bool { reason.contains(marker) }

    /// Returns the search result, or nil if the reason has none.
    package static func finding(in reason: String) -> String? {
        reason.firstRange(of: marker).map { String(reason[$0.upperBound...]) }
    }

    /// Returns whether the service has refused the change set, so that no request is running any more.
    static func isOfRefusal(_ reason: String) -> Bool { reason.hasPrefix(BatchAnswered.refusedButThere) }
}

extension PendingOperation {
    var doubtReason: String { if case .inDoubt(_, let reason) = status { reason } else { "" } }

    var isCreate: Bool { if case .create = operation.action { true } else { false } }
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
    mutating func apply(_ record: LogRecord, _ kind: RecordCodec.Kind) -> Bool {
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

extension RecordCodec.Kind {
    fileprivate var isOfBatch: Bool {
        switch self {
        case .batchPrepared, .repeatableBatchPrepared, .batchPreparedWithFingerprint, .batchPreparedWithEffects,
            .batchAccepted, .batchInterrupted,
            .batchAnswered, .batchAnsweredInDetail:
            true
        default: false
        }
    }

    fileprivate var isOperation: Bool {
        switch self {
        case .operation, .operationInTransaction, .operationWithAttributes, .operationWithStream,
            .operationWithCall:
            true
        default: false
        }
    }
}
