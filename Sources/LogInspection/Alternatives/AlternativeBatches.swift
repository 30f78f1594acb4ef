import Operations

/// What the batches carry in a history and in the other one that is made of it: an answer is only one to what was sent.
struct AlternativeBatches {
    /// The operations of the change sets, by their numbers in each history.
    private var real: [BatchID: [Set<SequenceNumber>]] = [:]
    private var made: [BatchID: [Set<SequenceNumber>]] = [:]
    private(set) var dropped: [DroppedAnswers] = []
    /// Whether a record is lost that may have redone what was undone.
    private(set) var followLostRecords = false

    mutating func note(_ body: Record.Body) {
        switch body {
        case .batchPrepared(let prepared): real[prepared.batch] = Self.changeSets(prepared)
        case .lost: followLostRecords = true
        default: break
        }
    }

    mutating func noteMade(_ body: Record.Body) {
        if case .batchPrepared(let prepared) = body { made[prepared.batch] = Self.changeSets(prepared) }
    }

    private static func changeSets(_ prepared: BatchPrepared) -> [Set<SequenceNumber>] {
        prepared.changeSets.map { Set($0.map(\.operation)) }
    }

    /// Whether the batch carries the operation, by its number in the other history.
    func carries(_ operation: SequenceNumber, in batch: BatchID) -> Bool {
        // One that was prepared in front of the first change is the same.
        real[batch] == nil || made[batch]?.contains { $0.contains(operation) } ?? false
    }

    /// Whether the batch carries the operation, and in a change set with the same ones as it was.
    ///
    /// - Parameter number: what an operation has in the other history; nil for one that it does not have.
    func carriesSame(
        _ operation: SequenceNumber, in batch: BatchID, _ number: (SequenceNumber) -> SequenceNumber?
    ) -> Bool {
        guard let sent = real[batch]?.first(where: { $0.contains(operation) }) else { return real[batch] == nil }
        let same = Set(sent.compactMap(number))
        return same.count == sent.count && made[batch]?.contains(same) ?? false
    }

    mutating func drop(_ operations: [SequenceNumber], in record: SequenceNumber) {
        guard dropped.count < AlternativeReport.listLimit else { return }
        dropped.append(DroppedAnswers(sequence: record, operations: operations.sorted()))
    }
}
