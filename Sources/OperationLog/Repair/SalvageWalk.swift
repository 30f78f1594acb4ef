/// Iterates over the readable records, in order and without duplicates, and reports the unreadable ones.
///
/// A record keeps its number, which its block contains. If two blocks contain the same numbers, the chain decides: a
/// block that does not continue the preceding records belongs to another history and is skipped.
struct SalvageWalk {
    enum Item {
        case record(LogRecord)
        case lost(ClosedRange<UInt64>)
    }

    private let stretches: [BlockRun]
    private let check: ((LogRecord) -> String?)?
    /// The sequence number of the next record.
    private var next: UInt64
    /// The chain value before the next record, or nil after lost records.
    private var chain: UInt32?
    private var decoder = BlockDecoder()
    /// The position at which the decoder can continue without a block that starts a run.
    private var decoded: SegmentFile.Position?
    private var decodedSegment: SegmentFile?
    private var foreign: [BlockRun] = []

    /// Intact parts that do not belong to this history.
    var passedOver: [RepairPlan.SkippedPart] {
        foreign.map { stretch in
            RepairPlan.SkippedPart(
                path: stretch.segment.path,
                reason: "the blocks from offset \(stretch.start.offset) on do not continue the records before them"
            )
        }
    }

    /// - Parameter stretches: The stretches in any order.
    init(
        _ stretches: [BlockRun], from first: UInt64, chain: UInt32?, check: ((LogRecord) -> String?)?
    ) {
        self.stretches = stretches.sorted { a, b in
            let (first, second) = (a.start.nextSequence, b.start.nextSequence)
            if first != second { return first < second }
            return a.end.nextSequence > b.end.nextSequence
        }
        next = first
        self.chain = chain
        self.check = check
    }

    /// Passes on all items up to the record before `end`, or further if there are more records.
    mutating func run(
        until end: UInt64, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) {
        for stretch in stretches where stretch.end.nextSequence > next {
            // No log loses so many records, so the number in this intact header was not written by this log's writer.
            guard Self.gap(next, stretch.start.nextSequence) <= LogRepair.maximumGap else {
                foreign.append(stretch)
                continue
            }
            try give(stretch, body)
        }
        if next < end, Self.gap(next, end) <= LogRepair.maximumGap { try recordLoss(upTo: end, body) }
        for stretch in stretches { stretch.segment.refresh() }
    }

    private static func gap(_ next: UInt64, _ found: UInt64) -> UInt64 { found > next ? found - next : 0 }

    private mutating func give(
        _ stretch: BlockRun, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) {
        var position = stretch.start
        while position.offset < stretch.end.offset {
            switch try stretch.segment.step(at: position) {
            case .records(let block):
                if let records = try records(of: block, in: stretch.segment) {
                    guard try give(records, of: block, body) else {
                        foreign.append(stretch)
                        return
                    }
                }
                position = block.next
            case .other(let block): position = block.next
            // It was intact a moment ago, so the file is being changed.
            case .footer, .end, .invalid: return
            }
        }
    }

    /// Returns the block's records, or nil if they cannot be read or must not be decoded out of order.
    private mutating func records(
        of block: SegmentFile.Block, in segment: SegmentFile
    ) throws(LogError) -> [LogRecord]? {
        let place = (block.header.firstSequence, block.header.chainBefore)
        let continues =
            decodedSegment === segment && decoded.map { ($0.nextSequence, $0.chain) == place } ?? false
        guard block.header.flags.contains(.startsRun) || continues else { return nil }
        do throws(BlockDecodingError) {
            let raw = try decoder.decode(block)
            (decoded, decodedSegment) = (block.next, segment)
            return try? Self.records(of: raw, block.header)
        } catch {
            (decoded, decodedSegment) = (nil, nil)
            decoder.interrupt()
            guard case .other(let error) = error else { return nil }
            throw error
        }
    }

    private static func records(of raw: [UInt8], _ header: BlockHeader) throws(LogFault) -> [LogRecord] {
        var records: [LogRecord] = []
        var walk = RecordWalk(raw, header: header)
        while let record = try walk.next() { records.append(record) }
        return records
    }

    /// Passes on the records of a block. Returns false if the block does not continue the preceding records.
    private mutating func give(
        _ records: [LogRecord], of block: SegmentFile.Block, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) -> Bool {
        guard block.next.nextSequence > next else { return true }
        if block.header.firstSequence > next {
            try recordLoss(upTo: block.header.firstSequence, body)
        } else if let chain {
            // The chain covers the records' bytes, so it has a value between any two records.
            let given = records.prefix { $0.sequence < next }
            var raw: [UInt8] = []
            for record in given { RecordCoding.encode(kind: record.kind, payload: record.payload, into: &raw) }
            guard crc32c(raw[...], continuing: block.header.chainBefore) == chain else { return false }
        }
        for record in records where record.sequence >= next {
            if check?(record) != nil {
                try body(.lost(record.sequence...record.sequence))
            } else {
                try body(.record(record))
            }
        }
        next = block.next.nextSequence
        chain = block.next.chain
        return true
    }

    private mutating func recordLoss(
        upTo end: UInt64, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) {
        try body(.lost(next...end - 1))
        next = end
        chain = nil
    }
}
