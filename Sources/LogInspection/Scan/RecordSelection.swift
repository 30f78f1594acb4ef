import OperationLog
import Operations

/// A selection of records that is evaluated without decoding unselected records.
struct RecordSelection: Sendable {
    var entities = SearchedIdentifiers([])
    var operations = SearchedIdentifiers([])
    var patterns: [BytePattern] = []
    /// Kinds that are selected regardless of their content.
    var kinds = RecordKinds([])

    /// The largest number of entities for which a byte search is faster than parsing each record.
    private static let searched = 8
    /// Kinds that refer to no operations except their change set.
    private static let withoutOperations = RecordKinds([
        .operation, .downloadPage, .comparedPage, .entitiesRead, .entitiesMissing, .streamsStored,
    ])
    private static let withoutEntities = RecordKinds([.batchPrepared, .queueChanged, .deliveryChanged])
    /// The kind with ranges of entities, whose encoded IDs need not appear in it.
    private static let withRuns = RecordCodec.RecordKind.comparedPage.rawValue

    /// Returns the selected records of the log, in order. Memory: these records.
    func records(of blocks: LogBlocks) throws(LogError) -> [LogRecord] {
        let needles = needles
        let search = columnSearch(needles)
        let parts = try blocks.map([LogRecord]()) { found, block in
            switch block {
            case .raw(let block): look(into: block, needles, &found)
            case .columns(let block):
                block.forEachCandidate(of: search) { sequence, kind, payload in
                    guard isWanted(kind, payload, nil) else { return }
                    found.append(LogRecord(sequence: sequence, kind: kind, payload: Array(payload)))
                }
            }
        }
        return Array(parts.joined())
    }

    private func look(into block: RawBlock, _ needles: [BytePattern]?, _ found: inout [LogRecord]) {
        block.bytes.withUnsafeBytes { bytes in
            let places = needles.flatMap { BytePattern.places(of: $0, in: bytes, limit: Int(block.recordCount) / 2) }
            var next = 0
            block.forEachRecord { sequence, kind, range in
                if let places, !kinds.contains(kind), kind != Self.withRuns {
                    while next < places.count, places[next] < range.lowerBound { next += 1 }
                    guard next < places.count, places[next] < range.upperBound else { return }
                }
                let payload = UnsafeRawBufferPointer(rebasing: bytes[range])
                guard isWanted(kind, payload, nil) else { return }
                found.append(LogRecord(sequence: sequence, kind: kind, payload: Array(payload)))
            }
        }
    }

    /// Returns the search for columnar records. The entities and operations of a record are separate fields, except for
    /// the ranges in a compared page.
    private func columnSearch(_ needles: [BytePattern]?) -> ColumnSearch {
        ColumnSearch(
            numbers: SearchedIdentifiers(entities.all + operations.all), values: patterns.compactMap(\.named),
            isWanted: { kind in kinds.contains(kind) || (kind == Self.withRuns && !entities.isEmpty) },
            isWantedWhole: { kind, payload in isWanted(kind, payload, needles) })
    }

    /// The byte patterns of which each record selected by content contains at least one; nil if there are none.
    private var needles: [BytePattern]? {
        guard operations.isEmpty, entities.all.count <= Self.searched else { return nil }
        return patterns + entities.all.map(BytePattern.init(identifier:))
    }

    private func isWanted(_ kind: UInt8, _ payload: UnsafeRawBufferPointer, _ needles: [BytePattern]?) -> Bool {
        if kinds.contains(kind) { return true }
        for pattern in patterns where pattern.isFound(in: payload) { return true }
        let couldName =
            !(entities.isEmpty || Self.withoutEntities.contains(kind))
            || !(operations.isEmpty || Self.withoutOperations.contains(kind))
        guard couldName else { return false }
        if let needles, kind != Self.withRuns, !needles.contains(where: { $0.isFound(in: payload) }) { return false }
        var isNamed = false
        let isDescribed = RecordMentions.visit(
            kind: kind, payload: payload, entity: { if entities.contains($0) { isNamed = true } },
            operation: { if operations.contains($0) { isNamed = true } })
        return isDescribed ? isNamed : namesWhenDecoded(kind, Array(payload))
    }

    private func namesWhenDecoded(_ kind: UInt8, _ payload: [UInt8]) -> Bool {
        guard let record = try? RecordCodec.decode(kind: kind, payload: payload) else { return false }
        return record.body.entities.contains { entities.contains($0.rawValue) }
            || record.body.namedOperations.contains { operations.contains($0) }
    }
}

/// A set of record kinds with fast lookup.
struct RecordKinds: Sendable {
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    init(_ kinds: [RecordCodec.RecordKind]) { for kind in kinds { insert(kind.rawValue) } }

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
    /// The operations that a fact refers to, by their sequence numbers. Empty for an operation itself.
    var namedOperations: [SequenceNumber] {
        switch self {
        case .batchPrepared(let prepared): prepared.operations
        case .batchAnswered(let answered): answered.outcomes.map(\.operation)
        case .operationsReleased(let operations), .operationsUndone(let operations), .operationsRedone(let operations),
            .operationsElided(let operations), .clientChangesKept(let operations), .deliveryChanged(let operations, _):
            operations
        case .conflictResolved(let resolved):
            resolved.dropped.map(\.operation) + resolved.takenBack + resolved.released
        case .operationsIncompatible(let incompatible): incompatible.map(\.operation)
        case .operationsAmended(let amended): amended.map(\.operation)
        case .serviceInstalled, .operation, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadPage,
            .downloadFinished, .linksLeftOpen, .entitiesQuarantined, .entitiesRead, .batchAccepted, .batchInterrupted,
            .uploadPostponed, .entitiesMissing, .streamsStored, .lost, .unknown:
            []
        }
    }
}
