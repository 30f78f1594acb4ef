public import OperationLog
public import Operations

/// Which items of a history are shown. Criteria that are given all have to hold.
///
/// Looks at each item once, in the order of the log, and remembers what later ones refer to: memory is one number for each
/// operation that fits.
public struct RecordFilter: Sendable {
    /// Everything that is about one of these, batches and answers with operations on them included.
    public var entities: Set<EntityID>?
    /// Everything that is about entities of the set.
    public var set: String?
    /// A record's kind (see ``HistoryItem/json(fates:)``), or an operation's action.
    public var kind: String?
    /// Operations with the fate of this name; see ``OperationFate/name``.
    public var state: String?
    /// The batch's own records, and the operations that it carries: these are in ``batchOperations``.
    public var batch: BatchID?
    /// Made then or later, in milliseconds since 1970. What has no time is not shown.
    public var since: Timestamp?
    /// Made then or earlier.
    public var until: Timestamp?
    public var from: SequenceNumber?
    public var to: SequenceNumber?
    /// Operations with this custom tag.
    public var tag: String?
    /// Operations and answers that the service refused with this error code, or this HTTP status.
    public var code: String?
    /// The operations that ``batch`` carries.
    public var batchOperations: Set<SequenceNumber> = []

    /// Those that fit ``entities``, for the records that name them.
    private var operationsOnEntities: Set<SequenceNumber> = []
    private var operationsOnSet: Set<SequenceNumber> = []
    private var batchesOnEntities: Set<BatchID> = []

    public init() {}

    /// Whether records are asked for that are no operations: then all kinds are looked at.
    public var asksForFacts: Bool { entities != nil || kind != nil || batch != nil || code != nil }

    /// Whether the item is shown. What cannot be read is always shown where its place fits: it may have been what is looked
    /// for.
    ///
    /// - Parameter cursor: the one that gave the item. It knows which set entities are of, also of those whose records a
    ///   compaction removes while a log is followed.
    public mutating func shows(_ item: HistoryItem, _ fates: OperationFates, of cursor: HistoryCursor) -> Bool {
        switch item {
        case .entry(let entry), .carried(let entry, _, _): return shows(entry, fates, cursor.sets)
        case .lost, .damage, .compacted: return isInRange(item.sequence)
        case .undecodable: return isInRange(item.sequence)
        }
    }

    private func isInRange(_ sequence: SequenceNumber) -> Bool {
        sequence >= from ?? 0 && sequence <= to ?? .max
    }

    private mutating func shows(_ entry: HistoryEntry, _ fates: OperationFates, _ sets: EntitySets) -> Bool {
        // These remember something, and so look at each entry.
        let isOnEntities = fitsEntities(entry)
        let isOnSet = fitsSet(entry, sets)
        guard isOnEntities, isOnSet, isInRange(entry.sequence), fitsTime(entry) else { return false }
        if let kind, entry.kind != kind, entry.operation?.action.name != kind { return false }
        if let tag, entry.operation?.customTag != tag { return false }
        if let state, entry.operation == nil || fates[entry.sequence]?.name != state { return false }
        if let batch, !fits(batch, entry) { return false }
        if let code, !fits(code, entry, fates) { return false }
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

    private func fits(_ code: String, _ entry: HistoryEntry, _ fates: OperationFates) -> Bool {
        func fits(_ refusal: Refusal) -> Bool { refusal.code == code || String(refusal.status) == code }
        switch entry.record.body {
        case .operation: return fates[entry.sequence]?.refusal.map(fits) ?? false
        case .operationsUnfit(let unfit): return unfit.contains { fits($0.refusal) }
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
    /// The operations that the batch carries, as its preparation or its answer says; none for a batch that the log does not
    /// have. Reads the log up to there.
    public func operations(of batch: BatchID) throws(LogError) -> Set<SequenceNumber> {
        let cursor = items()
        while let item = try cursor.next() {
            guard case .entry(let entry) = item, entry.record.body.batch == batch else { continue }
            let operations = entry.record.body.namedOperations
            if !operations.isEmpty { return Set(operations) }
        }
        return []
    }
}

extension OperationFate {
    /// The service's words, where it refused; also of what was undone since.
    public var refusal: Refusal? {
        var fate = self
        while case .undone(_, let before) = fate { fate = before }
        return switch fate {
        case .rejected(_, let refusal), .deferred(let refusal): refusal
        default: nil
        }
    }
}

extension Record.Body {
    /// The batch that the record is about.
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
    /// `create`, `update`, `delete`, `createLink`, `updateLink` or `deleteLink`.
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
