import EDM
import OperationLog
public import Operations
public import SyncEngine

/// One record with all that it says, where it lies, and what it has to do with other records.
public struct RecordDetail: Sendable {
    public let entry: HistoryEntry
    /// As the log keeps it.
    public let kindNumber: UInt8
    /// Of the record as it was encoded, without the log's framing.
    public let payloadBytes: Int
    /// Nil where only a repair could tell it: damage lies in front of it.
    public let place: Place?
    /// Of an operation.
    public let fate: OperationFate?
    /// The ways to the service and back of an operation, or of the operations of a batch's record.
    public internal(set) var exchanges: [Exchange]
    /// Earlier records without which it would not be, in order.
    public let causes: [Related]
    /// Later records that are about it, in order.
    public let effects: [Related]

    /// Where a record lies on the disk.
    public struct Place: Sendable, Hashable {
        /// The segment's file.
        public let path: String
        /// Where the block begins, in bytes from the file's beginning.
        public let blockOffset: UInt64
        /// The block's records, compressed and maybe encrypted, without the block's header.
        public let blockStoredBytes: UInt64
        public let blockRawBytes: UInt64
        /// The block's records, in one that is not packed those of a commit or of a part of one.
        public let blockRecords: ClosedRange<SequenceNumber>
        /// Whether the values of each field lie side by side, as in a packed segment.
        public let isPacked: Bool
    }

    /// Another record and what it is to this one.
    public struct Related: Sendable, Hashable {
        public let sequence: SequenceNumber
        public let time: Timestamp?
        /// As ``HistoryEntry/kind``.
        public let kind: String
        public let summary: String
    }
}

extension InspectedStore {
    /// The record with the number.
    ///
    /// Cost: a few looks at the log, mostly without decoding.
    ///
    /// - Throws: `notFound` where the log has no such record, or cannot give it; otherwise as ``provenance(of:)``.
    public func detail(of sequence: SequenceNumber) throws(TidelogError) -> RecordDetail {
        let place = try? RecordDetailSearch.place(of: sequence, try reader())
        return try readable { reader throws in
            try RecordDetailSearch(sequence, reader).detail(place: place ?? nil)
        }
    }
}

/// Finds what belongs to one record.
private struct RecordDetailSearch {
    private let raw: LogRecord
    private let record: Record
    private let blocks: LogBlocks
    /// Those that name one of the same operations, in order.
    private let related: [(sequence: SequenceNumber, record: Record)]
    private var sets = EntitySets()

    /// More entities are not looked up by their sets: a page has hundreds.
    private static let namedEntities = 200

    init(_ sequence: SequenceNumber, _ reader: LogReader) throws {
        guard let raw = try Self.record(sequence, reader) else {
            throw Self.notFound(sequence, "The log has no record")
        }
        self.raw = raw
        do {
            record = try RecordCodec.decode(kind: raw.kind, payload: raw.payload)
        } catch {
            throw TidelogError(
                .damaged, "Record \(sequence) cannot be decoded: \(RecordSummary.oneLine("\(error)", limit: 200)).",
                recovery: "Run 'tidelog verify'.")
        }
        blocks = try LogBlocks(reader)
        var selection = RecordSelection(operations: IdentifierSet(Self.operations(record.body, sequence)))
        if record.body.batch != nil || !selection.operations.isEmpty {
            // These name no operations.
            selection.kinds = RecordKinds([.batchAccepted, .batchInterrupted])
        }
        if record.body.batch != nil {
            selection.kinds.formUnion(RecordKinds([.batchPrepared, .repeatableBatchPrepared]))
        }
        let others = Self.decoded(try selection.records(of: blocks)).filter { $0.sequence != sequence }
        let batches =
            record.body.batch.map { [$0] }
            ?? Set(others.compactMap { $0.record.body.namedOperations.isEmpty ? nil : $0.record.body.batch })
        var found = others.filter { other in other.record.body.batch.map(batches.contains) ?? true }
        // A fact's own operations.
        let wanted = Set(record.body.namedOperations)
        if !wanted.isEmpty {
            let known = Set(found.map(\.sequence))
            for operation in wanted.sorted() where !known.contains(operation) {
                if let raw = try Self.record(operation, reader) { found += Self.decoded([raw]) }
            }
        }
        if let first = record.body.changeSet, first != sequence, let raw = try Self.record(first, reader) {
            found += Self.decoded([raw])
        }
        related = found.sorted { $0.sequence < $1.sequence }
        let named = ([record.body] + related.map(\.record.body)).flatMap(\.entities).prefix(Self.namedEntities)
        let about = RecordSelection(entities: IdentifierSet(named.map(\.rawValue)))
        for (_, record) in Self.decoded(try about.records(of: blocks)) { sets.learn(from: record.body) }
    }

    /// Whose fate a record is about.
    private static func operations(_ body: Record.Body, _ sequence: SequenceNumber) -> [SequenceNumber] {
        if case .operation = body { [sequence] } else { body.batch == nil ? [] : body.namedOperations }
    }

    private static func record(_ sequence: SequenceNumber, _ reader: LogReader) throws -> LogRecord? {
        do throws(LogError) {
            return try reader.record(sequence)
        } catch {
            guard case .compacted(let first) = error else { throw error }
            throw notFound(sequence, "A compaction has removed the records before \(first), and with them")
        }
    }

    private static func notFound(_ sequence: SequenceNumber, _ why: String) -> TidelogError {
        TidelogError(
            .notFound, "\(why) \(sequence).", recovery: "'tidelog log --all' shows the records that there are.")
    }

    private static func decoded(_ records: [LogRecord]) -> [(sequence: SequenceNumber, record: Record)] {
        records.compactMap { record in
            (try? RecordCodec.decode(kind: record.kind, payload: record.payload)).map { (record.sequence, $0) }
        }
    }

    static func place(of sequence: SequenceNumber, _ reader: LogReader) throws(LogError) -> RecordDetail.Place? {
        guard sequence > 0 else { return nil }
        let cursor = reader.records(from: sequence, through: sequence)
        guard try cursor.next() != nil, let block = cursor.block, block.nextSequence > block.firstSequence else {
            return nil
        }
        return RecordDetail.Place(
            path: block.path, blockOffset: block.offset, blockStoredBytes: block.storedBytes,
            blockRawBytes: UInt64(block.bytes.count), blockRecords: block.firstSequence...block.nextSequence - 1,
            isPacked: block.isColumnar)
    }

    func detail(place: RecordDetail.Place?) -> RecordDetail {
        var exchanges = ExchangeList()
        var fates = OperationFates()
        let own = Set(Self.operations(record.body, raw.sequence))
        for (sequence, record) in (related + [(raw.sequence, record)]).sorted(by: { $0.0 < $1.0 }) {
            exchanges.add(record, sequence)
            fates.apply(record.body, sequence: sequence)
        }
        let ways = own.sorted().flatMap { exchanges.exchanges[$0] ?? [] }
        let batch = record.body.batch
        return RecordDetail(
            entry: HistoryEntry(sequence: raw.sequence, record: record, sets: sets), kindNumber: raw.kind,
            payloadBytes: raw.payload.count, place: place,
            fate: { if case .operation = record.body { fates[raw.sequence] } else { nil } }(),
            exchanges: batch == nil ? ways : ways.filter { $0.batch == batch },
            causes: related.filter { $0.sequence < raw.sequence }.map(related),
            effects: related.filter { $0.sequence > raw.sequence }.map(related))
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
