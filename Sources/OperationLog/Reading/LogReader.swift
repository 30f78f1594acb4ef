/// A reader that does not change the log and takes no lock.
///
/// A writer in this or another process may append at the same time. A reader returns complete commits only. It may
/// return a commit shortly before the writer knows it to be durable; a caller that must not act on such a commit reads
/// up to ``OperationLog/durableSequence``.
package struct LogReader: Sendable {
    package let directory: String
    package let storeIdentifier: StoreIdentifier
    let keys: [LogKey]
    let fileSystem: any FileSystem

    /// Opens a log for reading.
    ///
    /// - Parameter keys: All keys that the log's segments are encrypted with.
    /// - Throws: ``LogError/noLog(path:)`` if the directory has no segment. ``LogError/keyRequired(path:)`` or
    ///   ``LogError/wrongKey(path:)`` if the first segment is encrypted with none of the keys. For a later segment,
    ///   ``LogCursor/next()`` throws these errors.
    package init(
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

    /// Returns a cursor over the records with these sequence numbers, in order.
    ///
    /// The cursor seeks at the first call of ``LogCursor/next()``: it lists the directory, reads one segment's footer,
    /// and decompresses the part of one run before the first record. The last segment has no footer yet; there it reads
    /// the block headers up to that run.
    ///
    /// - Parameter first: The first record. Nil begins with the first record of the log; see ``firstSequence()``. For a
    ///   record that a compaction removed, the cursor throws ``LogError/compacted(first:)``.
    package func records(from first: UInt64? = nil, through last: UInt64 = .max) -> LogCursor {
        LogCursor(reader: self, from: first.map { max($0, 1) }, through: last)
    }

    /// Calls `body` for each record in order, up to the end of the log at the time it is reached.
    package func forEach(
        from first: UInt64? = nil, through last: UInt64 = .max, _ body: (LogRecord) throws -> Void
    ) throws {
        let cursor = records(from: first, through: last)
        while let record = try cursor.next() { try body(record) }
    }

    /// Returns the record, or nil if the log ends before it.
    package func record(_ sequence: UInt64) throws(LogError) -> LogRecord? {
        guard sequence > 0 else { return nil }
        return try records(from: sequence, through: sequence).next()
    }

    /// Returns the sequence number of the log's first record, or of its next one if it has none yet.
    ///
    /// It is greater than 1 after a compaction; a snapshot contains the state before it.
    package func firstSequence() throws(LogError) -> UInt64 {
        try withListing { listing throws(LogError) in
            let segment = try oldest(listing)
            return segment.header.firstSequence
        }
    }

    /// Returns the sequence number of the next record according to the files. Reads the last segment without
    /// decompressing.
    package func nextSequence() throws(LogError) -> UInt64 {
        try withListing { listing throws(LogError) in
            guard let last = listing.segments.last else { throw .noLog(path: directory) }
            return try nextSequence(in: try segment(last))
        }
    }

    private func nextSequence(in segment: SegmentFile) throws(LogError) -> UInt64 {
        // Must be read first, because a writer records the end after writing the log.
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
            // A writer may have completed the block between the two reads.
            attempts += 1
            guard attempts < 3 else { throw segment.damage(fault, at: scan.position) }
            segment.refresh()
        }
    }

    /// Returns the recorded end of the log, given its last segment.
    func recordedEnd(of segment: SegmentFile) throws(LogError) -> LogEnd? {
        EndSlots(try EndFile.bytes(fileSystem, directory: directory), of: segment, keys: keys).newest
    }

    /// Returns the log's first segment, after checking that the log may begin with it.
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
