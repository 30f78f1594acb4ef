/// The items of one snapshot in the order in which they were added. Not safe for concurrent use.
///
/// The items are valid only after the cursor has reached the end: a snapshot with any damage must not be used.
package final class SnapshotCursor {
    private let segment: SegmentFile
    var firstSequence: UInt64 { segment.header.firstSequence }
    /// The log's chain value before that record.
    var chain: UInt32 { segment.chain }
    private var position: SegmentFile.Position
    private var decoded: SegmentFile.Position
    private var totals: SegmentTotals
    private var decoder = BlockDecoder()
    private var walk: RecordWalk?
    private var isAtEnd = false

    /// The totals of the blocks and items read so far.
    package private(set) var contents = SnapshotContents()

    init(_ segment: SegmentFile) {
        self.segment = segment
        position = segment.start
        decoded = segment.start
        totals = SegmentTotals(header: segment.header)
    }

    /// Returns the next item, or nil after the last one, when the whole file has been verified.
    ///
    /// An item is a slice of its block's bytes, which stay in memory as long as the slice does.
    ///
    /// - Throws: ``LogError/damaged(_:)`` if the snapshot is incomplete or changed.
    package func next() throws(LogError) -> (kind: UInt8, bytes: ArraySlice<UInt8>)? {
        while !isAtEnd {
            if let item = try nextOfBlock() { return item }
            try advance()
        }
        return nil
    }

    private func nextOfBlock() throws(LogError) -> (kind: UInt8, bytes: ArraySlice<UInt8>)? {
        guard walk != nil else { return nil }
        do throws(LogFault) {
            guard let record = try walk?.next() else {
                walk = nil
                return nil
            }
            contents.items += 1
            return (record.kind, record.bytes)
        } catch {
            throw segment.damage(error, at: decoded)
        }
    }

    private func advance() throws(LogError) {
        switch try segment.step(at: position) {
        case .records(let block):
            do throws(BlockDecodingError) {
                walk = RecordWalk(try decoder.decode(block), header: block.header)
            } catch {
                switch error {
                case .fault(let fault): throw segment.damage(fault, at: position)
                case .other(let error): throw error
                }
            }
            decoded = position
            count(block)
        case .other(let block):
            totals.add(block, binding: segment.binding)
            position = block.next
        case .footer(let block, let footer): try end(at: block, footer)
        case .end: throw segment.damage(.notSealed, at: position)
        case .invalid(let fault): throw segment.damage(fault, at: position)
        }
    }

    private func count(_ block: SegmentFile.Block) {
        contents.blocks += 1
        contents.rawBytes += UInt64(block.header.rawLength)
        contents.storedBytes += UInt64(block.header.storedLength)
        totals.add(block, binding: segment.binding)
        position = block.next
    }

    private func end(at block: SegmentFile.Block, _ footer: SegmentFooter) throws(LogError) {
        switch try segment.ending(after: block) {
        case .trailer: break
        case .incomplete: throw segment.damage(.endsEarly, at: block.next)
        case .bytesAfter: throw segment.damage(.bytesAfterTrailer, at: block.next)
        }
        guard footer == totals.footer(lastSequence: position.nextSequence - 1) else {
            throw segment.damage(
                .undecodable(reason: "the totals in the footer differ from those of the snapshot"), at: position)
        }
        isAtEnd = true
    }
}
