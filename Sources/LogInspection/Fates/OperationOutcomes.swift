package import Operations

/// The outcome of each operation, derived from the records of a log in order.
package struct OperationOutcomes: Sendable {
    private var outcomes: [SequenceNumber: OperationOutcome] = [:]
    /// The operations of batches without a response.
    private var open: [BatchID: [SequenceNumber]] = [:]
    /// The number after the last applied record.
    private var following: SequenceNumber = 0

    init() {}

    /// Returns the outcome, or nil for a sequence number without a known operation.
    package subscript(sequence: SequenceNumber) -> OperationOutcome? { outcomes[sequence] }

    /// The number of known operations.
    package var count: Int { outcomes.count }

    /// The number of operations with each outcome, by ``OperationOutcome/name``. Outcomes without operations are
    /// omitted.
    package var counts: [String: Int] {
        outcomes.values.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }

    /// Applies the next item. An item that was already applied has no effect, so a caller with the outcomes of a whole
    /// log can iterate over its items and continue with later ones.
    package mutating func apply(_ item: HistoryItem) {
        if case .carried(let entry, let outcome, let resumesAt) = item {
            // Outcomes from later records are newer.
            if following == resumesAt { carry(entry.sequence, outcome) }
            return
        }
        guard item.following > following else { return }
        following = item.following
        switch item {
        case .entry(let entry): apply(entry.record.body, sequence: entry.sequence)
        // Any missing record may have been a response.
        case .lost, .undecodable, .damage, .compacted: forget()
        case .carried: break
        }
    }

    /// Adds the outcome of an operation before the log's first record, from a snapshot.
    mutating func carry(_ operation: SequenceNumber, _ outcome: OperationOutcome) {
        outcomes[operation] = outcome
        guard case .inFlight(let batch) = outcome else { return }
        if open[batch]?.contains(operation) != true { open[batch, default: []].append(operation) }
    }

    /// Applies a record without an item.
    mutating func apply(_ body: Record.Body, sequence: SequenceNumber) {
        switch body {
        case .operation: outcomes[sequence] = .pending
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
            where outcomes[operation] == .inFlight(interrupted.batch) {
                set(operation, .inDoubt(interrupted.batch, reason: interrupted.reason))
            }
        case .operationsReleased(let operations):
            for operation in operations { set(operation, .pending) }
        case .operationsUndone(let operations): for operation in operations { undo(operation, by: sequence) }
        case .operationsRedone(let operations): for operation in operations { redo(operation) }
        case .operationsIncompatible(let incompatible):
            for incompatible in incompatible { set(incompatible.operation, .rejected(nil, incompatible.refusal)) }
        case .operationsAmended(let amended):
            for amended in amended { set(amended.operation, .pending) }
        case .operationsElided(let operations): for operation in operations { elide(operation, by: sequence) }
        case .clientChangesKept(let operations): for operation in operations { set(operation, .kept(by: sequence)) }
        // It may have been a response.
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

    /// Undoes an operation like the fold: confirmed operations cannot be undone.
    private mutating func undo(_ operation: SequenceNumber, by record: SequenceNumber) {
        guard let outcome = outcomes[operation] else { return }
        switch outcome {
        case .confirmed, .undone, .elided, .kept: break
        case .rejected, .unknown: outcomes[operation] = .undone(by: record, before: outcome)
        case .pending, .inFlight, .inDoubt, .deferred: outcomes[operation] = .undone(by: record, before: .pending)
        }
    }

    private mutating func elide(_ operation: SequenceNumber, by record: SequenceNumber) {
        switch outcomes[operation] {
        case nil, .confirmed, .undone, .elided, .kept: break
        default: outcomes[operation] = .elided(by: record)
        }
    }

    private mutating func redo(_ operation: SequenceNumber) {
        if case .undone(_, let before) = outcomes[operation] { outcomes[operation] = before }
    }

    /// Sets an outcome. Confirmed and cancelled-out operations have ended and do not change. Unknown operations have no
    /// outcome.
    private mutating func set(_ operation: SequenceNumber, _ outcome: OperationOutcome) {
        switch outcomes[operation] {
        case nil, .confirmed, .elided, .kept: break
        default: outcomes[operation] = outcome
        }
    }

    private mutating func forget() {
        for (sequence, outcome) in outcomes {
            if outcome.isFinal { continue }
            outcomes[sequence] = .unknown
        }
    }
}

extension HistoryItem {
    /// The next sequence number after the item.
    fileprivate var following: SequenceNumber {
        switch self {
        case .entry, .undecodable: sequence + 1
        case .lost(let range): range.upperBound + 1
        case .damage(_, let resumesAt): resumesAt ?? .max
        case .compacted(_, let resumesAt), .carried(_, _, let resumesAt): resumesAt
        }
    }
}
