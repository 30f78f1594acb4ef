/// Finds the end of a log, possibly after a crash, and cuts an incomplete commit. The caller holds the lock.
struct Recovery {
    let fileSystem: any FileSystem
    let directory: String
    let keys: [LogKey]

    struct Found {
        let segment: SegmentFile
        let position: SegmentFile.Position
        let totals: SegmentTotals
        let isSealed: Bool
        let segments: Int
        let cut: RecoveryReport.DiscardedTail?
        let snapshotDamages: [LogDamage]
        /// The first sequence numbers of sealed segments that are worth recompressing.
        var unpacked: [UInt64] = []
        let end: EndRecorder
    }

    /// Removes unfinished segments and snapshots.
    func removeUnfinished(_ names: [String]) throws(LogError) -> [String] {
        let unfinished = names.filter(SegmentName.isUnfinished).sorted()
        for name in unfinished {
            let path = directory + "/" + name
            try onFiles { () throws(FileSystemError) in try fileSystem.remove(path) }
        }
        return unfinished
    }

    /// Recovers a log that has at least one segment.
    ///
    /// All segments except the last are checked at both ends only, so that the time for opening does not grow with the
    /// records. A reader or ``LogVerification`` detects damage inside of them.
    func recover(_ listing: LogListing) throws(LogError) -> Found {
        var snapshots = try SnapshotSet(fileSystem, directory: directory, sequences: listing.snapshots, keys: keys)
        var oldest: SegmentFile?
        var before: SegmentFile.Position?
        var unpacked: [UInt64] = []
        for first in listing.segments.dropLast() {
            let segment = try self.segment(first, .read, after: before, oldest: &oldest, &snapshots)
            guard let (footer, block) = try segment.footerFromEnd() else {
                throw try segment.firstDamage()
            }
            if SegmentRecompression.isWorthwhile(footer.rawBytes, footer.blockCount) { unpacked.append(first) }
            before = block.next
        }
        guard let last = listing.segments.last else { preconditionFailure("there is a last segment") }
        let segment = try self.segment(last, .readWrite, after: before, oldest: &oldest, &snapshots)
        try (oldest ?? segment).checkBeginning(snapshots)
        var found = try recoverLast(segment, segments: listing.segments.count, snapshots)
        found.unpacked = unpacked
        return found
    }

    private func segment(
        _ first: UInt64, _ mode: FileMode, after position: SegmentFile.Position?, oldest: inout SegmentFile?,
        _ snapshots: inout SnapshotSet
    ) throws(LogError) -> SegmentFile {
        let segment = try SegmentFile(
            fileSystem, directory: directory, firstSequence: first, mode: mode, keys: keys)
        if let oldest { try segment.checkStore(oldest.header.storeIdentifier) } else { oldest = segment }
        if let position { try segment.checkPlace(after: position) }
        try snapshots.hold(to: segment)
        return segment
    }

    private func recoverLast(
        _ segment: SegmentFile, segments: Int, _ snapshots: SnapshotSet
    ) throws(LogError) -> Found {
        let end = EndSlots(try EndFile.bytes(fileSystem, directory: directory), of: segment, keys: keys)
        var scan = SegmentScan(segment)
        let ending = try scan.run()
        var cut: RecoveryReport.DiscardedTail?
        var isSealed = false
        switch ending {
        case .end: break
        case .sealed: isSealed = true
        case .invalid(let fault):
            guard try segment.isTorn(fault, at: scan.position, recorded: end.newest), snapshots.fit(scan.committed)
            else { throw segment.damage(fault, at: scan.position) }
            cut = try self.cut(segment, to: scan.committed, reason: fault)
        }
        if let newest = snapshots.newest, !snapshots.fit(scan.committed) {
            throw segment.damage(.endsBeforeSnapshot(newest), at: scan.committed)
        }
        if let fault = segment.fault(ofEndAt: scan.committed, recorded: end.newest) {
            throw segment.damage(fault, at: scan.committed)
        }
        // A killed process may have left records that are not durable yet. They become durable now.
        try writeAgain(segment, from: min(scan.durable.offset, scan.committed.offset))
        try onFiles { () throws(FileSystemError) in try segment.file.sync() }
        return Found(
            segment: segment, position: scan.committed, totals: scan.committedTotals, isSealed: isSealed,
            segments: segments, cut: cut, snapshotDamages: snapshots.damages,
            end: EndRecorder(fileSystem, directory: directory, end))
    }

    /// Writes the last bytes over themselves.
    ///
    /// After a failed sync in any process, the system may keep bytes in memory and consider them written: the next sync
    /// would skip them and succeed.
    private func writeAgain(_ segment: SegmentFile, from start: UInt64) throws(LogError) {
        try onFiles { () throws(FileSystemError) in
            var offset = start
            while true {
                let bytes = try segment.file.read(at: offset, count: 262_144)
                guard !bytes.isEmpty else { return }
                try segment.file.write(bytes, at: offset)
                offset += UInt64(bytes.count)
            }
        }
    }

    private func cut(
        _ segment: SegmentFile, to position: SegmentFile.Position, reason: LogFault
    ) throws(LogError) -> RecoveryReport.DiscardedTail {
        let size = try segment.size()
        let kept = try TornTailArchive(fileSystem, directory: directory).store(segment, from: position.offset)
        try onFiles { () throws(FileSystemError) in try segment.file.truncate(to: position.offset) }
        segment.refresh()
        return RecoveryReport.DiscardedTail(
            path: segment.path, offset: position.offset, bytes: size - min(size, position.offset), reason: reason,
            keptAt: kept)
    }
}

extension SegmentFile {
    /// Checks that the segment continues the one that ends at the position.
    func checkPlace(after position: Position) throws(LogError) {
        guard position.nextSequence == header.firstSequence, !header.isFirst else {
            throw damage(
                .missingSegment,
                at: Position(
                    offset: 0, nextSequence: min(position.nextSequence, header.firstSequence), chain: 0))
        }
        guard position.chain == chain else {
            throw damage(.brokenChain, at: Position(offset: 0, nextSequence: header.firstSequence, chain: 0))
        }
    }

    /// Returns the reason why a segment that must be sealed is not intact at its end.
    func firstDamage() throws(LogError) -> LogError {
        var scan = SegmentScan(self)
        switch try scan.run() {
        case .invalid(let fault): return damage(fault, at: scan.position)
        // Everything is intact except the trailer.
        case .end, .sealed: return damage(.notSealed, at: scan.position)
        }
    }
}
