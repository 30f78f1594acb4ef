import OperationLog
import Operations

/// Which records of a log are wanted, decided without decoding those that are not.
struct RecordSelection: Sendable {
    var entities = IdentifierSet([])
    var operations = IdentifierSet([])
    var patterns: [BytePattern] = []
    /// Wanted whatever they say, by number.
    var kinds: Set<UInt8> = []

    /// A record that is wanted, as it was appended.
    typealias Found = LogRecord

    /// The wanted records of the log, in order. Memory: these.
    func records(of blocks: LogBlocks) throws(LogError) -> [Found] {
        let parts = try blocks.map([Found]()) { found, block in
            block.bytes.withUnsafeBytes { bytes in
                block.forEachRecord { sequence, kind, payload in
                    guard wants(kind, bytes, payload) else { return }
                    found.append(Found(sequence: sequence, kind: kind, payload: Array(bytes[payload])))
                }
            }
        }
        return Array(parts.joined())
    }

    private func wants(_ kind: UInt8, _ bytes: UnsafeRawBufferPointer, _ payload: Range<Int>) -> Bool {
        if !kinds.isEmpty, kinds.contains(kind) { return true }
        for pattern in patterns where pattern.isFound(in: bytes, payload) { return true }
        guard !entities.isEmpty || !operations.isEmpty else { return false }
        var isNamed = false
        let isDescribed = RecordMentions.visit(
            kind: kind, payload: UnsafeRawBufferPointer(rebasing: bytes[payload]),
            entity: { if entities.contains($0) { isNamed = true } },
            operation: { if operations.contains($0) { isNamed = true } })
        return isDescribed ? isNamed : namesWhenDecoded(kind, Array(bytes[payload]))
    }

    private func namesWhenDecoded(_ kind: UInt8, _ payload: [UInt8]) -> Bool {
        guard let record = try? RecordCodec.decode(kind: kind, payload: payload) else { return false }
        return record.body.entities.contains { entities.contains($0.rawValue) }
            || record.body.namedOperations.contains { operations.contains($0) }
    }
}

extension Record.Body {
    /// The operations that a fact is about, by their sequence numbers; none for an operation itself.
    var namedOperations: [SequenceNumber] {
        switch self {
        case .batchPrepared(let prepared): prepared.operations
        case .batchAnswered(let answered): answered.outcomes.map(\.operation)
        case .operationsReleased(let operations), .operationsUndone(let operations), .operationsRedone(let operations),
            .operationsElided(let operations), .deliveryChanged(let operations, _):
            operations
        case .conflictResolved(let resolved):
            resolved.dropped.map(\.operation) + resolved.takenBack + resolved.released
        case .operationsUnfit(let unfit): unfit.map(\.operation)
        case .operationsAmended(let amended): amended.map(\.operation)
        case .serviceInstalled, .operation, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadPage,
            .downloadFinished, .linksLeftOpen, .entitiesRead, .batchAccepted, .batchInterrupted, .uploadPostponed,
            .entitiesMissing, .streamsStored, .lost, .unknown:
            []
        }
    }
}
