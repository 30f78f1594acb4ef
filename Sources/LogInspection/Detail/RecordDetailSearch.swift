import EDM
import OfflineStore
import OperationLog
import Operations

/// Finds the related records of one record.
struct RecordDetailSearch {
    private let sequence: SequenceNumber
    private let record: Record
    /// The raw record, or nil if a compaction has removed it.
    private let raw: LogRecord?
    private let blocks: LogBlocks
    /// The records that refer to the same operations, in order.
    private let related: [(sequence: SequenceNumber, record: Record)]
    /// The lost records after it, which may have concerned it.
    private let lost: [(sequence: SequenceNumber, record: Record)]
    private let compacted: CompactedHistory?
    private var sets = EntitySets()

    /// The largest number of entities whose sets are looked up, since a page has hundreds.
    private static let namedEntities = 200

    init(_ sequence: SequenceNumber, _ reader: LogReader) throws {
        self.sequence = sequence
        let first = try reader.firstSequence()
        raw = sequence < first ? nil : try reader.record(sequence)
        let decoded = try raw.map { try Self.decoded($0) }
        let reported = (decoded?.body.namedOperations ?? [sequence]) + (decoded?.body.changeSet.map { [$0] } ?? [])
        compacted = reported.contains { $0 > 0 && $0 < first } ? try CompactedHistory(reader, first: first, &sets) : nil
        guard let record = decoded ?? compacted?.record(sequence) else {
            throw Self.notFound(
                sequence,
                compacted == nil
                    ? "The log has no record" : "A compaction removed the records before \(first), including")
        }
        self.record = record
        blocks = try LogBlocks(reader)
        var selection = RecordSelection(operations: SearchedIdentifiers(Self.operations(record.body, sequence)))
        if record.body.batch != nil || !selection.operations.isEmpty {
            // These kinds refer to no operations.
            selection.kinds = RecordKinds([.batchAccepted, .batchInterrupted, .lost])
        }
        if record.body.batch != nil {
            selection.kinds.formUnion(RecordKinds([.batchPrepared]))
        }
        let selected = Self.decoded(try selection.records(of: blocks)).filter { $0.sequence != sequence }
        lost = selected.filter { $0.record.body == .lost && $0.sequence > sequence }
        let others = selected.filter { $0.record.body != .lost }
        let batches =
            record.body.batch.map { [$0] }
            ?? Set(others.compactMap { $0.record.body.namedOperations.isEmpty ? nil : $0.record.body.batch })
        var found = others.filter { other in other.record.body.batch.map(batches.contains) ?? true }
        // The operations that the record itself refers to.
        let wanted = Set(record.body.namedOperations)
        if !wanted.isEmpty {
            let known = Set(found.map(\.sequence))
            for operation in wanted.sorted() where !known.contains(operation) {
                if let named = try Self.known(operation, reader, compacted) { found.append(named) }
            }
        }
        if let first = record.body.changeSet, first != sequence, let named = try Self.known(first, reader, compacted) {
            found.append(named)
        }
        related = found.sorted { $0.sequence < $1.sequence }
        let named = ([record.body] + related.map(\.record.body)).flatMap(\.entities).prefix(Self.namedEntities)
        let about = RecordSelection(entities: SearchedIdentifiers(named.map(\.rawValue)))
        for (_, record) in Self.decoded(try about.records(of: blocks)) { sets.add(from: record.body) }
    }

    /// Returns the operations whose outcome the record concerns.
    private static func operations(_ body: Record.Body, _ sequence: SequenceNumber) -> [SequenceNumber] {
        if case .operation = body { [sequence] } else { body.batch == nil ? [] : body.namedOperations }
    }

    private static func decoded(_ raw: LogRecord) throws -> Record {
        do {
            return try RecordCodec.decode(kind: raw.kind, payload: raw.payload)
        } catch {
            throw TidelogError(
                .damaged, "Record \(raw.sequence) cannot be decoded: \(RecordSummary.oneLine("\(error)", limit: 200)).",
                recovery: "Run 'tidelog verify'.")
        }
    }

    /// Returns another record, as far as it is known.
    private static func known(
        _ sequence: SequenceNumber, _ reader: LogReader, _ compacted: CompactedHistory?
    ) throws -> (sequence: SequenceNumber, record: Record)? {
        if let compacted, sequence < compacted.first { return compacted.record(sequence).map { (sequence, $0) } }
        return try reader.record(sequence).flatMap { decoded([$0]).first }
    }

    private static func notFound(_ sequence: SequenceNumber, _ why: String) -> TidelogError {
        TidelogError(
            .notFound, "\(why) \(sequence).", recovery: "Run 'tidelog log --all' to list the records.")
    }

    private static func decoded(_ records: [LogRecord]) -> [(sequence: SequenceNumber, record: Record)] {
        records.compactMap { record in
            (try? RecordCodec.decode(kind: record.kind, payload: record.payload)).map { (record.sequence, $0) }
        }
    }

    static func place(of sequence: SequenceNumber, _ reader: LogReader) throws(LogError) -> RecordDetail.DiskLocation? {
        guard sequence > 0 else { return nil }
        let cursor = reader.records(from: sequence, through: sequence)
        guard try cursor.next() != nil, let block = cursor.block, block.nextSequence > block.firstSequence else {
            return nil
        }
        return RecordDetail.DiskLocation(
            path: block.path, blockOffset: block.offset, blockStoredBytes: block.storedBytes,
            blockRawBytes: UInt64(block.bytes.count), blockRecords: block.firstSequence...block.nextSequence - 1,
            isPacked: block.isColumnar)
    }

    func detail(place: RecordDetail.DiskLocation?) -> RecordDetail {
        var exchanges = ExchangeList()
        var outcomes = OperationOutcomes()
        let own = Set(Self.operations(record.body, sequence))
        for (sequence, record) in (related + lost + [(sequence, record)]).sorted(by: { $0.0 < $1.0 }) {
            exchanges.add(record, sequence)
            outcomes.apply(record.body, sequence: sequence)
            if let outcome = compacted?.outcome(sequence) { outcomes.carry(sequence, outcome) }
        }
        let ways = own.sorted().flatMap { exchanges.exchanges[$0] ?? [] }
        let batch = record.body.batch
        return RecordDetail(
            entry: HistoryEntry(sequence: sequence, record: record, sets: sets), kindNumber: raw?.kind,
            payloadBytes: raw?.payload.count, place: place, compactedBefore: raw == nil ? compacted?.first : nil,
            outcome: { if case .operation = record.body { outcomes[sequence] } else { nil } }(),
            exchanges: batch == nil ? ways : ways.filter { $0.batch == batch },
            causes: related.filter { $0.sequence < sequence }.map(related),
            effects: related.filter { $0.sequence > sequence }.map(related))
    }

    private func related(_ other: (sequence: SequenceNumber, record: Record)) -> RecordDetail.Related {
        let entry = HistoryEntry(sequence: other.sequence, record: other.record, sets: sets)
        return RecordDetail.Related(
            sequence: entry.sequence, time: entry.time, kind: entry.kind, summary: entry.summary)
    }
}

extension Record.Body {
    fileprivate var changeSet: SequenceNumber? {
        if case .operation(let operation) = self { operation.changeSet } else { nil }
    }
}
