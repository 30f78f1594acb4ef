/// Gives the records that can be read, in order and each once, and says which ones cannot.
///
/// A record keeps its number: its block says it. Two blocks that say the same numbers are told apart by the chain: what
/// does not continue the records in front of it is of another history and is passed over.
struct SalvageWalk {
    enum Item {
        case record(LogRecord)
        case lost(ClosedRange<UInt64>)
    }

    private let stretches: [Stretch]
    private let check: ((LogRecord) -> String?)?
    /// The next record to give.
    private var next: UInt64
    /// In front of it; nil behind lost records.
    private var chain: UInt32?
    private var decoder = BlockDecoder()
    /// Where the decoder can go on without a block that starts a run.
    private var decoded: SegmentFile.Position?
    private var decodedSegment: SegmentFile?
    private var foreign: [Stretch] = []

    /// What was intact and is not of this history.
    var passedOver: [RepairPlan.PassedOver] {
        foreign.map { stretch in
            RepairPlan.PassedOver(
                path: stretch.segment.path,
                reason: "the blocks from offset \(stretch.start.offset) on do not continue the records in front of them"
            )
        }
    }

    /// - Parameter stretches: in any order.
    init(
        _ stretches: [Stretch], from first: UInt64, chain: UInt32?, check: ((LogRecord) -> String?)?
    ) {
        self.stretches = stretches.sorted { a, b in
            let (first, second) = (a.start.nextSequence, b.start.nextSequence)
            if first != second { return first < second }
            if a.isEnterable != b.isEnterable { return a.isEnterable }
            return a.end.nextSequence > b.end.nextSequence
        }
        next = first
        self.chain = chain
        self.check = check
    }

    /// Up to the record in front of `end`, or further where there are more.
    mutating func run(
        until end: UInt64, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) {
        for stretch in stretches where stretch.end.nextSequence > next {
            // No log loses so much: a number of an intact header that no writer has written.
            guard Self.gap(next, stretch.start.nextSequence) <= LogRepair.maximumGap else {
                foreign.append(stretch)
                continue
            }
            try give(stretch, body)
        }
        if next < end, Self.gap(next, end) <= LogRepair.maximumGap { try lose(upTo: end, body) }
        for stretch in stretches { stretch.segment.refresh() }
    }

    private static func gap(_ next: UInt64, _ found: UInt64) -> UInt64 { found > next ? found - next : 0 }

    private mutating func give(
        _ stretch: Stretch, _ body: (Item) throws(LogError) -> Void
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
            // It was whole a moment ago; somebody changes the file.
            case .footer, .end, .invalid: return
            }
        }
    }

    /// Nil where the block cannot be read, or is not needed.
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

    /// False where the block does not continue the records in front of it.
    private mutating func give(
        _ records: [LogRecord], of block: SegmentFile.Block, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) -> Bool {
        guard block.next.nextSequence > next else { return true }
        if block.header.firstSequence > next {
            try lose(upTo: block.header.firstSequence, body)
        } else if let chain {
            // The chain is made of the records' bytes, so it has a value between any two records.
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

    private mutating func lose(
        upTo end: UInt64, _ body: (Item) throws(LogError) -> Void
    ) throws(LogError) {
        try body(.lost(next...end - 1))
        next = end
        chain = nil
    }
}
