/// Reads a log without changing it, also while a writer, in this process or another, appends to it. Takes no lock.
///
/// A reader sees whole commits only. It may see a commit a moment before the writer knows it to be durable; who must
/// not act on such a one reads up to ``OperationLog/durableSequence``.
public struct LogReader: Sendable {
    public let directory: String
    public let storeIdentifier: StoreIdentifier
    let keys: [LogKey]
    let fileSystem: any FileSystem

    /// - Parameter keys: all that the log's segments are encrypted with.
    /// - Throws: ``LogError/noLog(path:)`` where the directory has no segment. ``LogError/keyRequired(path:)`` or
    ///   ``LogError/wrongKey(path:)`` where the first segment is encrypted with none of the keys; for a later one,
    ///   ``LogCursor/next()`` throws it.
    public init(
        directory: String, keys: [LogKey] = [], fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) {
        self.directory = directory
        self.keys = keys
        self.fileSystem = fileSystem
        storeIdentifier = try Self.withListing(directory, fileSystem) { listing throws(LogError) in
            guard let first = listing.segments.first else {
                throw try EndFile.errorOfEmptyLog(fileSystem, directory: directory)
            }
            let segment = try SegmentFile(
                fileSystem, directory: directory, firstSequence: first, mode: .read, keys: keys)
            return segment.header.storeIdentifier
        }
    }

    /// The records with these sequence numbers, in order.
    ///
    /// The cursor finds its place at the first call of ``LogCursor/next()``: it lists the directory, reads one
    /// segment's footer and decompresses the part of one run in front of the first record. The last segment has no
    /// footer yet; there it reads the block headers up to that run.
    ///
    /// - Parameter first: Nil begins with the first record that the log has: see ``firstSequence()``. For one that a
    ///   compaction removed, the cursor throws ``LogError/compacted(first:)``.
    public func records(from first: UInt64? = nil, through last: UInt64 = .max) -> LogCursor {
        LogCursor(reader: self, from: first.map { max($0, 1) }, through: last)
    }

    /// Calls the closure for each record in order, to the end of the log as it is when that is reached.
    public func forEach(
        from first: UInt64? = nil, through last: UInt64 = .max, _ body: (LogRecord) throws -> Void
    ) throws {
        let cursor = records(from: first, through: last)
        while let record = try cursor.next() { try body(record) }
    }

    /// Nil where the log does not reach so far.
    public func record(_ sequence: UInt64) throws(LogError) -> LogRecord? {
        guard sequence > 0 else { return nil }
        return try records(from: sequence, through: sequence).next()
    }

    /// The number of the first record that the log has, or will have where it has none yet. More than 1 after a
    /// compaction: what was in front of it is in a snapshot.
    public func firstSequence() throws(LogError) -> UInt64 {
        try withListing { listing throws(LogError) in
            let segment = try oldest(listing)
            return segment.header.firstSequence
        }
    }

    /// The number that the next record will get, as the files say now. Reads the last segment, without decompressing.
    public func nextSequence() throws(LogError) -> UInt64 {
        try withListing { listing throws(LogError) in
            guard let last = listing.segments.last else { throw .noLog(path: directory) }
            return try nextSequence(in: try segment(last))
        }
    }

    private func nextSequence(in segment: SegmentFile) throws(LogError) -> UInt64 {
        // First, for a writer notes the end behind what it has written.
        let recorded = try recordedEnd(of: segment)
        let end = try end(of: segment, recorded)
        if let fault = segment.fault(ofEndAt: end, recorded: recorded) { throw segment.damage(fault, at: end) }
        return end.nextSequence
    }

    private func end(of segment: SegmentFile, _ recorded: LogEnd?) throws(LogError) -> SegmentFile.Position {
        if let (_, block) = try segment.footerFromEnd() { return block.next }
        var attempts = 0
        while true {
            var scan = SegmentScan(segment)
            guard case .invalid(let fault) = try scan.run() else { return scan.committed }
            if try segment.isTorn(fault, at: scan.position, recorded: recorded) { return scan.committed }
            // A writer may have completed the block between the two looks at it.
            attempts += 1
            guard attempts < 3 else { throw segment.damage(fault, at: scan.position) }
            segment.refresh()
        }
    }

    /// How far the log went at some time, if the segment is its last one.
    func recordedEnd(of segment: SegmentFile) throws(LogError) -> LogEnd? {
        EndSlots(try EndFile.bytes(fileSystem, directory: directory), of: segment, keys: keys).newest
    }

    /// The log's first segment, which may be where it begins.
    func oldest(_ listing: LogListing) throws(LogError) -> SegmentFile {
        guard let first = listing.segments.first else { throw .noLog(path: directory) }
        let segment = try segment(first)
        try checkBeginning(segment, listing)
        return segment
    }

    func segment(_ first: UInt64) throws(LogError) -> SegmentFile {
        try SegmentFile(fileSystem, directory: directory, firstSequence: first, mode: .read, keys: keys)
    }
}
