/// Walks over a segment's blocks without decompressing them.
struct SegmentScan {
    let segment: SegmentFile
    /// Behind the last intact block.
    private(set) var position: SegmentFile.Position
    /// Behind the last block of the last whole commit.
    private(set) var committed: SegmentFile.Position
    /// Everything in front of it was durable when what is behind it was written, by the word of a block.
    private(set) var durable: SegmentFile.Position
    private var totals: SegmentTotals
    private var totalsBeforeCommit: SegmentTotals?

    /// Of the blocks up to ``committed``.
    var committedTotals: SegmentTotals { totalsBeforeCommit ?? totals }

    enum Ending {
        /// The file ends behind a whole commit.
        case end
        /// At ``position`` there is a footer, and the file ends behind its trailer.
        case sealed
        /// At ``position`` something does not hold.
        case invalid(LogFault)
    }

    init(_ segment: SegmentFile) {
        self.segment = segment
        position = segment.start
        committed = segment.start
        durable = segment.start
        totals = SegmentTotals(header: segment.header)
    }

    mutating func run() throws(LogError) -> Ending {
        while true {
            switch try segment.step(at: position) {
            case .records(let block):
                pass(block, endsCommit: !block.header.flags.contains(.commitContinues))
            case .other(let block):
                pass(block, endsCommit: position == committed)
            case .footer(let block, let footer):
                guard position == committed else { return .invalid(.brokenChain) }
                switch try segment.ending(after: block) {
                case .trailer: break
                case .incomplete: return .invalid(.endsEarly)
                case .bytesAfter: return .invalid(.bytesAfterTrailer)
                }
                guard footer == totals.footer(lastSequence: position.nextSequence - 1) else {
                    return .invalid(.undecodable(reason: "the footer's totals are not the segment's"))
                }
                durable = position
                return .sealed
            case .end:
                return position == committed ? .end : .invalid(.unfinishedCommit)
            case .invalid(let fault):
                return .invalid(fault)
            }
        }
    }

    private mutating func pass(_ block: SegmentFile.Block, endsCommit: Bool) {
        if !endsCommit, totalsBeforeCommit == nil { totalsBeforeCommit = totals }
        totals.add(block, binding: segment.binding)
        if block.header.flags.contains(.predecessorsDurable) { durable = position }
        position = block.next
        if endsCommit {
            committed = position
            totalsBeforeCommit = nil
        }
    }
}
