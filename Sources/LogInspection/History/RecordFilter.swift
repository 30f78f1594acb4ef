package import OperationLog
public import Operations

/// A filter for the items of a history. All given criteria have to match.
///
/// It examines each item once, in the order of the log, and remembers references of later items: one number per
/// matching operation.
package struct RecordFilter: Sendable {
    /// Matches all records about one of these entities, including batches and outcomes of operations on them.
    package var entities: Set<EntityID>?
    /// Matches all records about entities of the set.
    package var set: String?
    /// The kind of a record (see ``HistoryItem/json(outcomes:)``), or the action of an operation.
    package var kind: String?
    /// Matches operations with this outcome; see ``OperationOutcome/name``.
    package var state: String?
    /// Matches the batch's own records and its operations, which have to be in ``batchOperations``.
    package var batch: BatchID?
    /// The earliest time, in milliseconds since 1970. Records without a time do not match.
    package var since: Timestamp?
    /// The latest time.
    package var until: Timestamp?
    package var from: SequenceNumber?
    package var to: SequenceNumber?
    /// Matches operations with this custom tag.
    package var tag: String?
    /// Matches operations and outcomes that the service rejected with this error code or HTTP status.
    package var code: String?
    /// The operations of ``batch``.
    package var batchOperations: Set<SequenceNumber> = []

    /// The operations that match ``entities``, for later records that refer to them.
    private var operationsOnEntities: Set<SequenceNumber> = []
    private var operationsOnSet: Set<SequenceNumber> = []
    private var batchesOnEntities: Set<BatchID> = []

    package init() {}

    /// Whether the filter may match records that are no operations, so that all kinds have to be examined.
    package var asksForFacts: Bool { entities != nil || kind != nil || batch != nil || code != nil }

    /// Returns whether the item matches. Unreadable items match if their position does, because they may contain the
    /// requested record.
    ///
    /// - Parameter cursor: The cursor that returned the item. It contains the sets of entities, including those whose
    ///   records a compaction removes while the log is followed.
    package mutating func shows(_ item: HistoryItem, _ outcomes: OperationOutcomes, of cursor: HistoryCursor) -> Bool {
        switch item {
        case .entry(let entry), .carried(let entry, _, _): return shows(entry, outcomes, cursor.sets)
        case .lost, .damage, .compacted: return isInRange(item.sequence)
        case .undecodable: return isInRange(item.sequence)
        }
    }

    private func isInRange(_ sequence: SequenceNumber) -> Bool {
        sequence >= from ?? 0 && sequence <= to ?? .max
    }

    private mutating func shows(_ entry: HistoryEntry, _ outcomes: OperationOutcomes, _ sets: EntitySets) -> Bool {
        // These remember references, so they have to examine each entry.
        let isOnEntities = fitsEntities(entry)
        let isOnSet = fitsSet(entry, sets)
        guard isOnEntities, isOnSet, isInRange(entry.sequence), fitsTime(entry) else { return false }
        if let kind, entry.kind != kind, entry.operation?.action.name != kind { return false }
        if let tag, entry.operation?.customTag != tag { return false }
        if let state, entry.operation == nil || outcomes[entry.sequence]?.name != state { return false }
        if let batch, !fits(batch, entry) { return false }
        if let code, !fits(code, entry, outcomes) { return false }
        return true
    }

    // MARK: Criteria

    private mutating func fitsEntities(_ entry: HistoryEntry) -> Bool {
        guard let entities else { return true }
        let body = entry.record.body
        var isFit = entry.entities.contains(where: entities.contains)
        if isFit, entry.operation != nil { operationsOnEntities.insert(entry.sequence) }
        isFit = isFit || body.namedOperations.contains(where: operationsOnEntities.contains)
        if let batch = body.batch {
            if isFit { batchesOnEntities.insert(batch) } else { isFit = batchesOnEntities.contains(batch) }
        }
        return isFit
    }

    private mutating func fitsSet(_ entry: HistoryEntry, _ sets: EntitySets) -> Bool {
        guard let set else { return true }
        let isFit = entry.entities.contains { sets.set(of: $0) == set }
        if isFit, entry.operation != nil { operationsOnSet.insert(entry.sequence) }
        return isFit || entry.record.body.namedOperations.contains(where: operationsOnSet.contains)
    }

    private func fitsTime(_ entry: HistoryEntry) -> Bool {
        guard since != nil || until != nil else { return true }
        guard let time = entry.time else { return false }
        return time >= since ?? .min && time <= until ?? .max
    }

    private func fits(_ batch: BatchID, _ entry: HistoryEntry) -> Bool {
        entry.operation != nil ? batchOperations.contains(entry.sequence) : entry.record.body.batch == batch
    }

    private func fits(_ code: String, _ entry: HistoryEntry, _ outcomes: OperationOutcomes) -> Bool {
        func fits(_ refusal: Refusal) -> Bool { refusal.code == code || String(refusal.status) == code }
        switch entry.record.body {
        case .operation: return outcomes[entry.sequence]?.refusal.map(fits) ?? false
        case .operationsIncompatible(let incompatible): return incompatible.contains { fits($0.refusal) }
        case .batchAnswered(let answered):
            return answered.outcomes.contains { outcome in
                switch outcome.result {
                case .rejected(let refusal), .deferred(let refusal, _): fits(refusal)
                case .confirmed, .notProcessed, .inDoubt: false
                }
            }
        default: return false
        }
    }
}

extension LogHistory {
    /// Returns the operations of the batch according to its prepared record or its response, or none if the log does
    /// not have the batch. Reads the log up to that record.
    package func operations(of batch: BatchID) throws(LogError) -> Set<SequenceNumber> {
        let cursor = items()
        while let item = try cursor.next() {
            guard case .entry(let entry) = item, entry.record.body.batch == batch else { continue }
            let operations = entry.record.body.namedOperations
            if !operations.isEmpty { return Set(operations) }
        }
        return []
    }
}

extension OperationOutcome {
    /// The service's rejection, including that of an operation that was undone since.
    public var refusal: Refusal? {
        var outcome = self
        while case .undone(_, let before) = outcome { outcome = before }
        return switch outcome {
        case .rejected(_, let refusal), .deferred(let refusal): refusal
        default: nil
        }
    }
}

extension Record.Body {
    /// The batch of the record.
    var batch: BatchID? {
        switch self {
        case .batchPrepared(let prepared): prepared.batch
        case .batchAccepted(let accepted): accepted.batch
        case .batchAnswered(let answered): answered.batch
        case .batchInterrupted(let interrupted): interrupted.batch
        default: nil
        }
    }
}

extension Operation.Action {
    /// The name: `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
    public var name: String {
        switch self {
        case .create: "create"
        case .update: "update"
        case .delete: "delete"
        case .createLink: "createLink"
        case .updateLink: "updateLink"
        case .deleteLink: "deleteLink"
        }
    }
}
