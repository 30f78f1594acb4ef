import Operations

/// The contents of batches in the real and the altered history. A logged outcome applies only if the request is the
/// same.
struct WhatIfBatches {
    /// The operations of the change sets, by their sequence numbers in each history.
    private var real: [BatchID: [Set<SequenceNumber>]] = [:]
    private var made: [BatchID: [Set<SequenceNumber>]] = [:]
    private(set) var dropped: [DroppedResponses] = []
    /// Whether a lost record may have redone undone operations.
    private(set) var followLostRecords = false

    mutating func add(_ body: Record.Body) {
        switch body {
        case .batchPrepared(let prepared): real[prepared.batch] = Self.changeSets(prepared)
        case .lost: followLostRecords = true
        default: break
        }
    }

    mutating func addRebuilt(_ body: Record.Body) {
        if case .batchPrepared(let prepared) = body { made[prepared.batch] = Self.changeSets(prepared) }
    }

    private static func changeSets(_ prepared: BatchPrepared) -> [Set<SequenceNumber>] {
        prepared.changeSets.map { Set($0.map(\.operation)) }
    }

    /// Returns whether the batch contains the operation, by its number in the altered history.
    func carries(_ operation: SequenceNumber, in batch: BatchID) -> Bool {
        // A batch that was prepared before the first change is the same in both histories.
        real[batch] == nil || made[batch]?.contains { $0.contains(operation) } ?? false
    }

    /// Returns whether the batch contains the operation in a change set with the same operations as before.
    ///
    /// - Parameter number: Returns the number of an operation in the altered history, or nil if it does not have it.
    func carriesSame(
        _ operation: SequenceNumber, in batch: BatchID, _ number: (SequenceNumber) -> SequenceNumber?
    ) -> Bool {
        guard let sent = real[batch]?.first(where: { $0.contains(operation) }) else { return real[batch] == nil }
        let same = Set(sent.compactMap(number))
        return same.count == sent.count && made[batch]?.contains(same) ?? false
    }

    mutating func drop(_ operations: [SequenceNumber], in record: SequenceNumber) {
        guard dropped.count < WhatIfReport.listLimit else { return }
        dropped.append(DroppedResponses(sequence: record, operations: operations.sorted()))
    }
}
