/// Blocks that follow one another in a file without a gap, each continuing the one before.
struct Stretch {
    let segment: SegmentFile
    let start: SegmentFile.Position
    /// Whether reading can begin with the first block. Where it cannot, the stretch is of use only behind the one that it
    /// continues.
    let isEnterable: Bool
    /// Behind the last block.
    fileprivate(set) var end: SegmentFile.Position
    /// Where the last commit begins, if its end is not in the stretch.
    fileprivate(set) var unfinishedCommit: SegmentFile.Position?

    /// Without the commit that is not finished; nil where nothing is left then.
    var finished: Stretch? {
        guard let unfinishedCommit else { return self }
        guard unfinishedCommit.offset > start.offset else { return nil }
        var stretch = self
        stretch.end = unfinishedCommit
        stretch.unfinishedCommit = nil
        return stretch
    }
}

/// Everything intact in one segment's file, wherever it lies. Reads all of the file and decompresses nothing; memory grows
/// with the number of damaged places only.
struct SegmentSurvey {
    private(set) var stretches: [Stretch] = []
    /// Behind the last record that was there at some time, as far as something intact tells.
    private(set) var knownEnd: UInt64
    /// Whether the file ends as a crash of its writer may leave it: what comes behind the last stretch was never
    /// acknowledged.
    private(set) var isTorn = false

    func ends(with stretch: Stretch) -> Bool {
        stretch.segment === segment && stretches.last?.end == stretch.end
    }

    private let segment: SegmentFile
    private let recorded: LogEnd?
    private var current: Stretch?

    /// - Parameter recorded: How far the log went at some time.
    init(_ segment: SegmentFile, recorded: LogEnd?) throws(LogError) {
        self.segment = segment
        self.recorded = recorded
        knownEnd = segment.header.firstSequence
        var position = segment.start
        while let next = try pass(position) { position = next }
        close()
        segment.refresh()
    }

    /// Looks at what lies at the position, and says where to look next.
    private mutating func pass(_ position: SegmentFile.Position) throws(LogError) -> SegmentFile.Position? {
        switch try segment.step(at: position) {
        case .records(let block):
            add(block, at: position)
            return block.next
        case .other(let block):
            return block.next
        case .footer(let block, let footer):
            knownEnd = max(knownEnd, footer.lastSequence + 1)
            // Whatever follows: a trailer, or more blocks.
            return try resume(behind: block.next.offset - 1)
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
            guard let next = try resume(behind: position.offset) else {
                self.isTorn = isTorn
                return nil
            }
            return next
        }
    }

    private func resume(behind offset: UInt64) throws(LogError) -> SegmentFile.Position? {
        try segment.nextHeader(after: offset) { _ in true }.map { Self.place($0.offset, $0.header) }
    }

    private static func place(_ offset: UInt64, _ header: BlockHeader) -> SegmentFile.Position {
        SegmentFile.Position(offset: offset, nextSequence: header.firstSequence, chain: header.chainBefore)
    }

    private mutating func add(_ block: SegmentFile.Block, at position: SegmentFile.Position) {
        let startsRun = block.header.flags.contains(.startsRun)
        // Parted, so that the second half can be used without the first.
        if let current, !current.isEnterable, startsRun { close() }
        var stretch =
            current ?? Stretch(segment: segment, start: position, isEnterable: startsRun, end: position)
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
