public import OfflineStore
public import Operations
import SyncCore

/// The reason why an operation is not confirmed, or the confirmation.
public struct OperationReason: Sendable, Hashable {
    /// The sequence number of the operation.
    public let sequence: SequenceNumber
    /// The outcome of the operation so far.
    public let outcome: OperationOutcome
    /// The reason why the next upload would hold the operation, without a full stop. Nil if the upload would send it,
    /// or if it is not to be sent any more.
    public let hold: String?
    /// Complete sentences, beginning with the conclusion.
    public let sentences: [String]
}

extension InspectedStore {
    /// Returns the reason why the operation with this number is not confirmed, or the batch that confirmed it.
    ///
    /// For a pending operation, the next upload is planned on the state at the end of the log, which costs as much as
    /// building the views.
    ///
    /// - Throws: `notFound` if there is no such operation; otherwise the errors of ``provenance(of:)`` and
    ///   ``past(at:)``.
    public func why(_ sequence: SequenceNumber) async throws(TidelogError) -> OperationReason {
        let detail = try detail(of: sequence)
        guard detail.entry.operation != nil, let outcome = detail.outcome else {
            throw TidelogError(
                .notFound, "Record \(sequence) is not an operation: \(detail.entry.summary).",
                recovery: "Run 'tidelog log' to list the operations, or 'tidelog show \(sequence)' to see this record.")
        }
        var hold: String?
        if outcome.isOpen { hold = try await self.hold(of: sequence) }
        return OperationReason(sequence, outcome, hold, detail)
    }

    private func hold(of sequence: SequenceNumber) async throws(TidelogError) -> String? {
        let store = try await past(at: .sequence(.max)).store
        let plan = try await store.uploads.plan()
        await store.close()
        return plan.held[sequence]?.description
    }
}

extension OperationOutcome {
    /// Whether a later upload may still process the operation.
    fileprivate var isOpen: Bool {
        switch self {
        case .pending, .inFlight, .inDoubt, .rejected, .deferred, .unknown: true
        case .confirmed, .undone, .elided, .kept: false
        }
    }

    /// Whether the outcome may be the result of a search.
    fileprivate var isAfterSearch: Bool {
        switch self {
        case .confirmed, .pending: true
        default: false
        }
    }
}

extension OperationReason {
    fileprivate init(_ sequence: SequenceNumber, _ outcome: OperationOutcome, _ hold: String?, _ detail: RecordDetail) {
        self.sequence = sequence
        self.outcome = outcome
        self.hold = hold
        let last = detail.exchanges.last
        var sentences = [Self.answer(sequence, outcome, last)]
        if let finding = last?.message.flatMap(DoubtReason.finding), outcome.isAfterSearch {
            sentences.append("The service was searched for the entity: \(RecordSummary.oneLine(finding, limit: 200))")
        }
        if let hold, outcome == .pending { sentences.append("It is not in the next batch: \(hold).") }
        if case .pending = outcome {
            if let last { sentences.append("Batch \(last.batch) contained it before: \(last.outcome).") }
            for effect in detail.effects where effect.kind == "operationsReleased" || effect.kind == "conflictResolved"
            {
                sentences.append("Record \(effect.sequence): \(effect.summary).")
            }
        }
        if let first = detail.compactedBefore {
            sentences.append("A compaction removed the records before \(first); a snapshot contains the operation.")
        }
        self.sentences = sentences
    }

    private static func answer(_ sequence: SequenceNumber, _ outcome: OperationOutcome, _ last: Exchange?) -> String {
        let name = "Operation \(sequence)"
        let when = last?.answeredAt.flatMap(iso8601).map { " at \($0)" } ?? ""
        let record = last?.answered.map { " (record \($0))" } ?? ""
        switch outcome {
        case .pending: return "\(name) waits for an upload."
        case .inFlight(let batch): return "\(name) was sent with batch \(batch), and the log contains no response."
        case .inDoubt(let batch, let reason):
            return "\(name) has been in doubt since batch \(batch): \(RecordSummary.oneLine(reason, limit: 200))"
        case .confirmed(let batch): return "\(name) was confirmed by the response to batch \(batch)\(when)\(record)."
        case .rejected(let batch, let refusal):
            return "\(name) was rejected" + (batch.map { " in batch \($0)" } ?? "")
                + "\(when)\(record): \(Provenance.words(of: refusal))"
        case .deferred(let refusal):
            return "\(name) was postponed by the service\(when)\(record): \(Provenance.words(of: refusal))"
        case .undone(let undo, let before):
            return "\(name) was undone by record \(undo); its state before was \(before.name)."
        case .kept(let by): return "\(name) is client-only, and its changes became permanent with record \(by)."
        case .elided(let by):
            return "\(name) was never sent: it and other operations cancelled each other out (record \(by))."
        case .unknown: return "The outcome of operation \(sequence) is not known: records after it are lost."
        }
    }
}
