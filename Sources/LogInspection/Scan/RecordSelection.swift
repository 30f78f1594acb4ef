import OperationLog
import Operations

/// Which records of a log are wanted, decided without decoding those that are not.
struct RecordSelection: Sendable {
    var entities = IdentifierSet([])
    var operations = IdentifierSet([])
    var patterns: [BytePattern] = []
    /// Wanted whatever they say.
    var kinds = RecordKinds([])

    /// With more entities than this it is quicker to look into each record than to look for each entity's bytes.
    private static let searched = 8
    /// These name no operations, but for the change set that they are in.
    private static let withoutOperations = RecordKinds([
        .operation, .operationInTransaction, .operationWithAttributes, .operationWithStream, .downloadPage,
        .changesPage,
        .entitiesRead, .entitiesMissing, .streamsStored, .streamsTold,
    ])

    /// The wanted records of the log, in order. Memory: these.
    func records(of blocks: LogBlocks) throws(LogError) -> [LogRecord] {
        let needles = needles
        let parts = try blocks.map([LogRecord]()) { found, block in
            block.bytes.withUnsafeBytes { bytes in
                let places = needles.flatMap {
                    BytePattern.places(of: $0, in: bytes, limit: Int(block.recordCount) / 2)
                }
                var next = 0
                block.forEachRecord { sequence, kind, payload in
                    if !kinds.contains(kind) {
                        // A page of changes has runs of entities, whose bytes need not be in it.
                        if let places, kind != RecordCodec.Kind.changesPage.rawValue {
                            while next < places.count, places[next] < payload.lowerBound { next += 1 }
                            guard next < places.count, places[next] < payload.upperBound else { return }
                        }
                        guard wants(kind, bytes, payload) else { return }
                    }
                    found.append(LogRecord(sequence: sequence, kind: kind, payload: Array(bytes[payload])))
                }
            }
        }
        return Array(parts.joined())
    }

    /// Bytes of which one is in each record that is wanted for what it says; nil where none are known.
    private var needles: [BytePattern]? {
        guard operations.isEmpty, entities.all.count <= Self.searched else { return nil }
        return patterns + entities.all.map(BytePattern.init(identifier:))
    }

    private func wants(_ kind: UInt8, _ bytes: UnsafeRawBufferPointer, _ payload: Range<Int>) -> Bool {
        for pattern in patterns where pattern.isFound(in: bytes, payload) { return true }
        guard !entities.isEmpty || !operations.isEmpty else { return false }
        if entities.isEmpty, Self.withoutOperations.contains(kind) { return false }
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

/// Kinds of records, quickly asked for.
struct RecordKinds: Sendable {
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ kinds: [RecordCodec.Kind]) { for kind in kinds { insert(kind.rawValue) } }

    private mutating func insert(_ kind: UInt8) {
        let bit: UInt64 = 1 << UInt64(kind & 63)
        switch kind >> 6 {
        case 0: bits.0 |= bit
        case 1: bits.1 |= bit
        case 2: bits.2 |= bit
        default: bits.3 |= bit
        }
    }

    @inline(__always)
    func contains(_ kind: UInt8) -> Bool {
        let word =
            switch kind >> 6 {
            case 0: bits.0
            case 1: bits.1
            case 2: bits.2
            default: bits.3
            }
        return word >> UInt64(kind & 63) & 1 == 1
    }

    mutating func formUnion(_ other: RecordKinds) {
        bits = (bits.0 | other.bits.0, bits.1 | other.bits.1, bits.2 | other.bits.2, bits.3 | other.bits.3)
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
