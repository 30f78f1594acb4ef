/// Consecutive blocks in a file, each of which continues its predecessor.
struct BlockRun {
    let segment: SegmentFile
    let start: SegmentFile.Position
    /// Whether reading can begin with the first block. If not, the stretch is usable only after the one that it
    /// continues.
    let isEnterable: Bool
    /// The position after the last block.
    fileprivate(set) var end: SegmentFile.Position
    /// The start of the last commit, if its end is not in the stretch.
    fileprivate(set) var unfinishedCommit: SegmentFile.Position?

    /// The stretch without its unfinished commit, or nil if nothing else is left.
    var finished: BlockRun? {
        guard let unfinishedCommit else { return self }
        guard unfinishedCommit.offset > start.offset else { return nil }
        var stretch = self
        stretch.end = unfinishedCommit
        stretch.unfinishedCommit = nil
        return stretch
    }
}

/// All intact parts of one segment file, at any offset.
///
/// Reads the whole file and decompresses nothing. Memory grows only with the number of damaged positions.
struct SegmentSurvey {
    private(set) var stretches: [BlockRun] = []
    /// The sequence number after the last record that is known to have existed, according to intact structures.
    private(set) var knownEnd: UInt64
    /// Whether the file ends as a crash of its writer may leave it, so that bytes after the last stretch were never
    /// acknowledged.
    private(set) var isTorn = false

    func ends(with stretch: BlockRun) -> Bool {
        stretch.segment === segment && stretches.last?.end == stretch.end
    }

    private let segment: SegmentFile
    private let recorded: LogEnd?
    private var current: BlockRun?

    /// - Parameter recorded: The recorded end of the log.
    init(_ segment: SegmentFile, recorded: LogEnd?) throws(LogError) {
        self.segment = segment
        self.recorded = recorded
        knownEnd = segment.header.firstSequence
        var position = segment.start
        while let next = try pass(position) { position = next }
        close()
        segment.refresh()
    }

    /// Examines the structure at the position and returns the position to examine next.
    private mutating func pass(_ position: SegmentFile.Position) throws(LogError) -> SegmentFile.Position? {
        switch try segment.step(at: position) {
        case .records(let block):
            add(block, at: position)
            return block.next
        case .other(let block):
            return block.next
        case .footer(let block, let footer):
            knownEnd = max(knownEnd, footer.lastSequence + 1)
            // A trailer may follow, or more blocks.
            return try resume(after: block.next.offset - 1)
        case .end:
            isTorn = current?.unfinishedCommit != nil && segment.fault(ofEndAt: position, recorded: recorded) == nil
            return nil
        case .invalid(let fault):
            let isTorn = try segment.isTorn(fault, at: position, recorded: recorded)
            close()
            // An intact block that does not belong here begins a stretch of its own.
            if !fault.mayBeTorn, let header = try segment.header(at: position.offset) {
                let place = Self.place(position.offset, header)
                if place != position { return place }
            }
            guard let next = try resume(after: position.offset) else {
                self.isTorn = isTorn
                return nil
            }
            return next
        }
    }

    private func resume(after offset: UInt64) throws(LogError) -> SegmentFile.Position? {
        try segment.nextHeader(after: offset) { _ in true }.map { Self.place($0.offset, $0.header) }
    }

    private static func place(_ offset: UInt64, _ header: BlockHeader) -> SegmentFile.Position {
        SegmentFile.Position(offset: offset, nextSequence: header.firstSequence, chain: header.chainBefore)
    }

    private mutating func add(_ block: SegmentFile.Block, at position: SegmentFile.Position) {
        let startsRun = block.header.flags.contains(.startsRun)
        // The stretch is split, so that the second half can be used without the first.
        if let current, !current.isEnterable, startsRun { close() }
        var stretch =
            current ?? BlockRun(segment: segment, start: position, isEnterable: startsRun, end: position)
        let isUnfinished = block.header.flags.contains(.commitContinues)
        stretch.unfinishedCommit = isUnfinished ? stretch.unfinishedCommit ?? position : nil
        stretch.end = block.next
        current = stretch
        knownEnd = max(knownEnd, block.next.nextSequence)
    }

    private mutating func close() {
        if let current { stretches.append(current) }
        current = nil
    }
}
