/// A position in the log that moves forward. Not safe for concurrent use.
///
/// At the end of the log, ``next()`` returns nil. A later call continues with records that were appended in the
/// meantime, so a reader that follows a log keeps its cursor.
package final class LogCursor {
    private let reader: LogReader
    /// The next record to return, or nil to begin with the log's first record.
    private var wanted: UInt64?
    private let last: UInt64

    private var segment: SegmentFile?
    /// The position after the last decoded block.
    private var position = SegmentFile.Position(offset: 0, nextSequence: 0, chain: 0)
    /// The position of the last decoded block.
    private var decoded = SegmentFile.Position(offset: 0, nextSequence: 0, chain: 0)
    /// The offset up to which all blocks belong to commits that are known to be complete.
    private var wholeUntil: UInt64 = 0
    private var decoder = BlockDecoder()
    private var walk: RecordWalk?
    /// The block that contains the last returned record.
    package private(set) var block: RawBlock?

    init(reader: LogReader, from first: UInt64?, through last: UInt64) {
        self.reader = reader
        wanted = first
        self.last = last
    }

    /// Returns the next record, or nil at the end of the log or after the last requested record.
    ///
    /// - Throws: ``LogError/damaged(_:)``, or ``LogError/compacted(first:)`` if the record was removed before the
    ///   cursor reached it. Further calls throw again: nothing is skipped.
    package func next() throws(LogError) -> LogRecord? {
        while true {
            if let record = try nextOfBlock() { return record }
            if let wanted, wanted > last { return nil }
            guard try advance() else { return nil }
        }
    }

    /// Returns the next block that contains requested records, or nil at the end of the log.
    ///
    /// A cursor is used either for blocks or for records.
    ///
    /// - Throws: The same errors as ``next()``.
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

    /// Returns the next record of the current block, or nil if there is no block or no further record.
    private func nextOfBlock() throws(LogError) -> LogRecord? {
        do throws(LogFault) {
            if let record = try walk?.next() { return record }
        } catch {
            guard let segment else { return nil }
            throw segment.damage(error, at: decoded)
        }
        // A block that ends before the first requested record is skipped as a whole.
        if let passed = walk { wanted = max(passed.sequence, wanted ?? 0) }
        walk = nil
        return nil
    }

    /// Decodes the next block of records. Returns false at the end of the log.
    private func advance() throws(LogError) -> Bool {
        guard let (found, segment) = try find() else { return false }
        // Releases the bytes of the last block before those of the next one are allocated.
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

    /// Returns the next block of records, or nil at the end of the log.
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
                guard try continues(after: segment, .notSealed) else { return nil }
            case .invalid(let fault):
                guard try continues(after: segment, fault) else { return nil }
            }
        }
        return nil
    }

    /// Returns whether all blocks of the block's commit exist. An incomplete commit is either being written or torn.
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
                guard try continues(after: segment, .unfinishedCommit, at: next) else { return false }
            case .invalid(let fault):
                guard try continues(after: segment, fault, at: next) else { return false }
            }
        }
        wholeUntil = next.offset
        return true
    }

    /// Decides how to continue at an incomplete structure.
    ///
    /// - Returns: true to read the structure again, false if the log ends before it.
    /// - Throws: ``LogError/damaged(_:)`` if the structure is damaged.
    private func continues(
        after segment: SegmentFile, _ fault: LogFault, at place: SegmentFile.Position? = nil
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
        // The writer may have continued between the first read and the search for evidence of damage.
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

    /// Replaces a segment without blocks if its file was replaced, and returns whether it was. A writer with a new key
    /// does this.
    private func reopen(_ segment: SegmentFile) throws(LogError) -> Bool {
        let now: SegmentFile
        do {
            now = try reader.segment(segment.header.firstSequence)
        } catch {
            // A compaction has removed the segment; the next read reports it.
            guard case .fileSystem(let failure) = error, failure.isNotFound else { throw error }
            return false
        }
        guard now.header != segment.header else { return false }
        self.segment = now
        position = now.start
        return true
    }

    /// Opens the successor of a sealed segment. Returns false if there is none yet.
    private func openNext(after footer: SegmentFile.Block, _ segment: SegmentFile) throws(LogError) -> Bool {
        let expected = footer.next.nextSequence
        let recorded = try reader.recordedEnd(of: segment)
        let found = try reader.withListing { listing throws(LogError) -> SegmentFile? in
            // The directory is listed before the segment is opened, so that a segment that is created in between does
            // not hide a missing predecessor.
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
