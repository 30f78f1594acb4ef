public import Operations

/// What became of each operation, gathered from the records of a log in order.
public struct OperationFates: Sendable {
    private var fates: [SequenceNumber: OperationFate] = [:]
    /// The operations of batches that have no answer yet.
    private var open: [BatchID: [SequenceNumber]] = [:]
    /// Behind the last record that an item was about.
    private var following: SequenceNumber = 0

    init() {}

    /// Nil for a sequence number at which no operation was read.
    public subscript(sequence: SequenceNumber) -> OperationFate? { fates[sequence] }

    /// How many operations were read.
    public var count: Int { fates.count }

    /// How many operations have each fate, by ``OperationFate/name``; fates that none has are left out.
    public var counts: [String: Int] {
        fates.values.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }

    /// Goes on with the next item. One that was applied before changes nothing: so who has the fates of a whole log can
    /// walk through its items and go on with those that came later.
    public mutating func apply(_ item: HistoryItem) {
        if case .carried(let entry, let fate, let resumesAt) = item {
            // What was applied from there on is newer.
            if following == resumesAt { carry(entry.sequence, fate) }
            return
        }
        guard item.following > following else { return }
        following = item.following
        switch item {
        case .entry(let entry): apply(entry.record.body, sequence: entry.sequence)
        // Any of what is missing may have been an answer.
        case .lost, .undecodable, .damage, .compacted: forget()
        case .carried: break
        }
    }

    /// What a snapshot says of an operation in front of the log's first record.
    mutating func carry(_ operation: SequenceNumber, _ fate: OperationFate) {
        fates[operation] = fate
        guard case .inFlight(let batch) = fate else { return }
        if open[batch]?.contains(operation) != true { open[batch, default: []].append(operation) }
    }

    /// Goes on with a record, without an item made of it.
    mutating func apply(_ body: Record.Body, sequence: SequenceNumber) {
        switch body {
        case .operation: fates[sequence] = .pending
        case .batchPrepared(let prepared):
            open[prepared.batch] = prepared.operations
            for operation in prepared.operations {
                redo(operation)
                set(operation, .inFlight(prepared.batch))
            }
        case .batchAnswered(let answered):
            open[answered.batch] = nil
            for outcome in answered.outcomes {
                redo(outcome.operation)
                set(outcome, of: answered.batch)
            }
        case .batchInterrupted(let interrupted):
            for operation in open.removeValue(forKey: interrupted.batch) ?? []
            where fates[operation] == .inFlight(interrupted.batch) {
                set(operation, .inDoubt(interrupted.batch, reason: interrupted.reason))
            }
        case .operationsReleased(let operations):
            for operation in operations { set(operation, .pending) }
        case .operationsUndone(let operations): for operation in operations { undo(operation, by: sequence) }
        case .operationsRedone(let operations): for operation in operations { redo(operation) }
        case .operationsUnfit(let unfit):
            for unfit in unfit { set(unfit.operation, .rejected(nil, unfit.refusal)) }
        case .operationsAmended(let amended):
            for amended in amended { set(amended.operation, .pending) }
        case .operationsElided(let operations): for operation in operations { elide(operation, by: sequence) }
        // It may have been an answer.
        case .lost: forget()
        case .conflictResolved(let resolved):
            for operation in resolved.takenBack { undo(operation, by: sequence) }
            for operation in resolved.released { set(operation, .pending) }
        case .serviceInstalled, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadPage,
            .downloadFinished, .linksLeftOpen, .entitiesQuarantined, .entitiesRead, .entitiesMissing, .streamsStored,
            .batchAccepted,
            .uploadPostponed,
            .deliveryChanged, .unknown:
            break
        }
    }

    private mutating func set(_ outcome: BatchAnswered.Outcome, of batch: BatchID) {
        switch outcome.result {
        case .confirmed: set(outcome.operation, .confirmed(batch))
        case .rejected(let refusal): set(outcome.operation, .rejected(batch, refusal))
        case .deferred(let refusal, _): set(outcome.operation, .deferred(refusal))
        case .notProcessed: set(outcome.operation, .pending)
        case .inDoubt(let reason): set(outcome.operation, .inDoubt(batch, reason: reason))
        }
    }

    /// As the fold does it: what the service did is not undone.
    private mutating func undo(_ operation: SequenceNumber, by record: SequenceNumber) {
        guard let fate = fates[operation] else { return }
        switch fate {
        case .confirmed, .undone, .elided: break
        case .rejected, .unknown: fates[operation] = .undone(by: record, before: fate)
        case .pending, .inFlight, .inDoubt, .deferred: fates[operation] = .undone(by: record, before: .pending)
        }
    }

    private mutating func elide(_ operation: SequenceNumber, by record: SequenceNumber) {
        switch fates[operation] {
        case nil, .confirmed, .undone, .elided: break
        default: fates[operation] = .elided(by: record)
        }
    }

    private mutating func redo(_ operation: SequenceNumber) {
        if case .undone(_, let before) = fates[operation] { fates[operation] = before }
    }

    /// A confirmed operation has ended, and so has one that was cancelled out; nothing changes that. What was never read has no fate here.
    private mutating func set(_ operation: SequenceNumber, _ fate: OperationFate) {
        switch fates[operation] {
        case nil, .confirmed, .elided: break
        default: fates[operation] = fate
        }
    }

    private mutating func forget() {
        for (sequence, fate) in fates {
            if fate.isFinal { continue }
            fates[sequence] = .unknown
        }
    }
}

extension HistoryItem {
    /// What the history goes on with behind the item.
    fileprivate var following: SequenceNumber {
        switch self {
        case .entry, .undecodable: sequence + 1
        case .lost(let range): range.upperBound + 1
        case .damage(_, let resumesAt): resumesAt ?? .max
        case .compacted(_, let resumesAt), .carried(_, _, let resumesAt): resumesAt
        }
    }
}
