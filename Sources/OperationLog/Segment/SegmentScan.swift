/// Iterates over a segment's blocks without decompressing them.
struct SegmentScan {
    let segment: SegmentFile
    /// The position after the last intact block.
    private(set) var position: SegmentFile.Position
    /// The position after the last block of the last complete commit.
    private(set) var committed: SegmentFile.Position
    /// The position before which everything is known to be durable, according to a block's flag.
    private(set) var durable: SegmentFile.Position
    private var totals: SegmentTotals
    private var totalsBeforeCommit: SegmentTotals?

    /// The totals of the blocks up to ``committed``.
    var committedTotals: SegmentTotals { totalsBeforeCommit ?? totals }

    enum Ending {
        /// The file ends after a complete commit.
        case end
        /// A footer begins at ``position``, and the file ends after its trailer.
        case sealed
        /// The structure at ``position`` is invalid.
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
                    return .invalid(.undecodable(reason: "the totals in the footer differ from those of the segment"))
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
