/// A place in the log that moves forward. Not to be shared between threads.
///
/// At the end of the log ``next()`` gives nil; asked again later it goes on with what was appended since. So a reader
/// that follows a log keeps its cursor.
public final class LogCursor {
    private let reader: LogReader
    /// The next record to give out; nil for the first one that there is.
    private var wanted: UInt64?
    private let last: UInt64

    private var segment: SegmentFile?
    /// Behind the last block that was decoded.
    private var position = SegmentFile.Position(offset: 0, nextSequence: 0, chain: 0)
    /// That block itself.
    private var decoded = SegmentFile.Position(offset: 0, nextSequence: 0, chain: 0)
    /// Blocks up to here belong to commits known to be whole.
    private var wholeUntil: UInt64 = 0
    private var decoder = BlockDecoder()
    private var walk: RecordWalk?
    /// The block that the last record is in.
    package private(set) var block: RawBlock?

    init(reader: LogReader, from first: UInt64?, through last: UInt64) {
        self.reader = reader
        wanted = first
        self.last = last
    }

    /// The next record; nil at the end of the log, and behind the last record asked for.
    ///
    /// - Throws: ``LogError/damaged(_:)``, or ``LogError/compacted(first:)`` where the record was removed before the
    ///   cursor came to it. Calling again throws again: nothing is passed over.
    public func next() throws(LogError) -> LogRecord? {
        while true {
            if let record = try nextOfBlock() { return record }
            if let wanted, wanted > last { return nil }
            guard try advance() else { return nil }
        }
    }

    /// The next block with records that were asked for, whole; nil at the end of the log. A cursor gives either blocks or
    /// records.
    ///
    /// - Throws: as ``next()``.
    package func nextBlock() throws(LogError) -> SearchedBlock? {
        while true {
            if let wanted, wanted > last { return nil }
            guard let (found, segment) = try find() else { return nil }
            let block: SearchedBlock =
                if found.header.method == BlockMethod.zstdColumns {
                    .columns(
                        try decoding(segment) { () throws(BlockDecodingError) in try decoder.decodeColumns(found) })
                } else {
                    .raw(try raw(of: found, in: segment))
                }
            pass(found)
            if let wanted, block.nextSequence <= wanted { continue }
            wanted = block.nextSequence
            return block
        }
    }

    /// Nil where the block is at its end, and where there is none.
    private func nextOfBlock() throws(LogError) -> LogRecord? {
        do throws(LogFault) {
            if let record = try walk?.next() { return record }
        } catch {
            guard let segment else { return nil }
            throw segment.damage(error, at: decoded)
        }
        // A block that ends before the first record that was asked for is passed over whole.
        if let passed = walk { wanted = max(passed.sequence, wanted ?? 0) }
        walk = nil
        return nil
    }

    /// Decodes the next block of records. False at the end of the log.
    private func advance() throws(LogError) -> Bool {
        guard let (found, segment) = try find() else { return false }
        // The bytes of the last one go before those of the next come.
        block = nil
        let raw = try raw(of: found, in: segment)
        walk = RecordWalk(raw.bytes, header: found.header, through: last)
        block = raw
        pass(found)
        guard let wanted else { return true }
        do throws(LogFault) {
            try walk?.skip(to: wanted)
        } catch {
            throw segment.damage(error, at: decoded)
        }
        return true
    }

    private func raw(of block: SegmentFile.Block, in segment: SegmentFile) throws(LogError) -> RawBlock {
        let raw = try decoding(segment) { () throws(BlockDecodingError) in try decoder.decode(block) }
        return RawBlock(raw, of: block.header, path: segment.path, offset: block.offset)
    }

    private func decoding<Result>(
        _ segment: SegmentFile, _ body: () throws(BlockDecodingError) -> Result
    ) throws(LogError) -> Result {
        do throws(BlockDecodingError) {
            return try body()
        } catch {
            switch error {
            case .fault(let fault): throw segment.damage(fault, at: position)
            case .other(let error): throw error
            }
        }
    }

    private func pass(_ block: SegmentFile.Block) {
        decoded = position
        position = block.next
    }

    /// The next block of records; nil at the end of the log.
    private func find() throws(LogError) -> (block: SegmentFile.Block, segment: SegmentFile)? {
        if segment == nil { try seek() }
        while let segment {
            switch try segment.step(at: position) {
            case .records(let block):
                return try isWhole(block, in: segment) ? (block, segment) : nil
            case .other(let block):
                position = block.next
            case .footer(let block, _):
                guard try openNext(after: block, segment) else { return nil }
            case .end:
                if position == segment.start, try reopen(segment) { continue }
                guard try continues(behind: segment, .notSealed) else { return nil }
            case .invalid(let fault):
                guard try continues(behind: segment, fault) else { return nil }
            }
        }
        return nil
    }

    /// Whether all blocks of the block's commit are there. One that is not is either being written or torn.
    private func isWhole(_ block: SegmentFile.Block, in segment: SegmentFile) throws(LogError) -> Bool {
        if block.next.offset <= wholeUntil { return true }
        var header = block.header
        var next = block.next
        while header.flags.contains(.commitContinues) {
            switch try segment.step(at: next) {
            case .records(let block): (header, next) = (block.header, block.next)
            case .other(let block): next = block.next
            case .footer:
                throw segment.damage(.brokenChain, at: next)
            case .end:
                guard try continues(behind: segment, .unfinishedCommit, at: next) else { return false }
            case .invalid(let fault):
                guard try continues(behind: segment, fault, at: next) else { return false }
            }
        }
        wholeUntil = next.offset
        return true
    }

    /// What an incomplete structure means: true to look at it once more, false where the log ends before it; throws
    /// where it is damage.
    private func continues(
        behind segment: SegmentFile, _ fault: LogFault, at place: SegmentFile.Position? = nil
    ) throws(LogError) -> Bool {
        let place = place ?? position
        segment.refresh()
        let recorded = try reader.recordedEnd(of: segment)
        let hasSuccessor = try reader.listing().segments.contains { $0 > segment.header.firstSequence }
        let missing = hasSuccessor ? nil : segment.fault(ofEndAt: place, recorded: recorded)
        if !hasSuccessor, missing == nil {
            if fault == .notSealed { return false }
            if try segment.isTorn(fault, at: place, recorded: recorded) { return false }
        }
        // The writer may have gone on between the first look and the search for a witness.
        segment.refresh()
        switch try segment.step(at: place) {
        case .end: throw segment.damage(missing ?? .notSealed, at: place)
        case .invalid(let fault): throw segment.damage(fault, at: place)
        case .records, .footer, .other: return true
        }
    }

    // MARK: Segments

    private func seek() throws(LogError) {
        let (found, first) = try reader.withListing { listing throws(LogError) -> (SegmentFile, UInt64) in
            guard let wanted, let first = listing.segment(holding: wanted) else {
                let oldest = try reader.oldest(listing)
                if let wanted, wanted < oldest.header.firstSequence {
                    throw .compacted(first: oldest.header.firstSequence)
                }
                return (oldest, oldest.header.firstSequence)
            }
            if first == listing.segments.first { return (try reader.oldest(listing), wanted) }
            return (try reader.segment(first), wanted)
        }
        position = try found.entrance(for: first)
        wanted = first
        segment = found
    }

    /// Whether a segment without blocks was replaced by another one: a writer that has another key does so.
    private func reopen(_ segment: SegmentFile) throws(LogError) -> Bool {
        let now: SegmentFile
        do {
            now = try reader.segment(segment.header.firstSequence)
        } catch {
            // Removed by a compaction; what comes next says so.
            guard case .fileSystem(let failure) = error, failure.isNotFound else { throw error }
            return false
        }
        guard now.header != segment.header else { return false }
        self.segment = now
        position = now.start
        return true
    }

    /// False where the sealed segment is the last one so far.
    private func openNext(after footer: SegmentFile.Block, _ segment: SegmentFile) throws(LogError) -> Bool {
        let expected = footer.next.nextSequence
        let recorded = try reader.recordedEnd(of: segment)
        let found = try reader.withListing { listing throws(LogError) -> SegmentFile? in
            // Listed before opening: a segment that appears in between is no reason to miss the one before it.
            guard let last = listing.segments.last, last > segment.header.firstSequence else {
                guard let fault = segment.fault(ofEndAt: footer.next, recorded: recorded) else { return nil }
                throw segment.damage(fault, at: footer.next)
            }
            if listing.segment(holding: expected) == expected { return try reader.segment(expected) }
            let oldest = try reader.oldest(listing)
            if oldest.header.firstSequence > expected { throw .compacted(first: oldest.header.firstSequence) }
            throw segment.damage(.missingSegment, at: footer.next)
        }
        guard let next = found else { return false }
        try next.checkStore(reader.storeIdentifier)
        try next.checkPlace(after: footer.next)
        self.segment = next
        position = next.start
        wholeUntil = 0
        return true
    }
}
