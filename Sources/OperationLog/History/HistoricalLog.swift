/// A log as of one of its records: the records up to it, without any later ones.
///
/// It overlays the log's own files and does not change them. It can be read like any log. It can also be appended to,
/// which is visible in ``fileSystem`` only. It takes no lock: a writer in this or another process may append to the log
/// at the same time.
package struct HistoricalLog: Sendable {
    /// The file system that contains the log as of the record, under the log's own paths.
    package let fileSystem: OverlayFileSystem
    package let directory: String
    /// The sequence number of the last record, or 0 if there is none.
    package let lastSequence: UInt64

    /// Creates a view of a log as of a record.
    ///
    /// Reads one segment, which is kept in memory, and writes less than one block.
    ///
    /// - Parameters:
    ///   - last: The last record of the view. If it is nil or not in the log yet, the view contains all current
    ///     records.
    ///   - fileSystem: The file system that contains the log. It is only read.
    /// - Throws: ``LogError/compacted(first:)`` if a compaction has removed the earlier records and no snapshot covers
    ///   the state as of `last`; the error contains the first record for which a view can be created. Otherwise the
    ///   errors of ``LogReader``. Damage before the record is detected when the view is read; see ``LogRepair`` in that
    ///   case.
    package init(
        directory: String, through last: UInt64?, keys: [LogKey] = [], fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) {
        self.directory = directory
        self.fileSystem = OverlayFileSystem(fileSystem)
        let reader = try LogReader(directory: directory, keys: keys, fileSystem: fileSystem)
        let (listing, end) = try reader.withListing { listing throws(LogError) in
            if let last { try reader.checkReaches(last, listing) }
            return (listing, try reader.nextSequence())
        }
        lastSequence = min(last ?? .max, end - 1)
        try cut(listing, reader)
    }

    /// Removes later files and later blocks, then writes the remaining records of a block that was cut in its middle.
    private func cut(_ listing: LogListing, _ reader: LogReader) throws(LogError) {
        let kept = listing.segment(holding: max(lastSequence, listing.segments[0])) ?? listing.segments[0]
        do throws(FileSystemError) {
            for first in listing.segments where first > kept { try remove(.segment, first) }
            for sequence in listing.snapshots where sequence > lastSequence + 1 { try remove(.snapshot, sequence) }
            // The log is shorter on purpose.
            try EndFile.clear(fileSystem, directory: directory)
        } catch {
            throw .fileSystem(error)
        }
        let segment = try reader.segment(kept)
        let position = try segment.end(ofCommitsThrough: lastSequence)
        try onFiles { () throws(FileSystemError) in
            let file = try fileSystem.open(segment.path, .readWrite)
            defer { file.close() }
            try file.truncate(to: position.offset)
        }
        guard position.nextSequence <= lastSequence else { return }
        try append(reader.records(from: position.nextSequence, through: lastSequence), reader.keys)
    }

    private func remove(_ form: SegmentName.LogFileKind, _ first: UInt64) throws(FileSystemError) {
        do {
            try fileSystem.remove(directory + "/" + SegmentName.name(form, firstSequence: first))
        } catch {
            // A compaction has removed the file in the meantime.
            guard error.isNotFound else { throw error }
        }
    }

    /// Appends the records as one commit. They are fewer than a block contains.
    private func append(_ records: LogCursor, _ keys: [LogKey]) throws(LogError) {
        var options = OperationLog.Options(durability: .none, sealing: .asWritten, creation: .never)
        options.keys = keys
        options.segmentSize = .max
        let (log, _) = try OperationLog.open(directory: directory, options: options, fileSystem: fileSystem)
        var commit = Commit()
        while let record = try records.next() { try commit.add(kind: record.kind, payload: record.payload) }
        if !commit.isEmpty { try log.append(commit) }
        log.close()
    }
}

extension LogReader {
    /// Checks that the state as of the record is available: the log begins with its first record, or with a snapshot
    /// that is not newer than the record.
    fileprivate func checkReaches(_ last: UInt64, _ listing: LogListing) throws(LogError) {
        let oldest = try oldest(listing)
        if oldest.header.isFirst { return }
        let first = oldest.header.firstSequence
        guard let snapshot = listing.snapshots.first(where: { $0 >= first }) else { return }
        if last < snapshot - 1 { throw .compacted(first: snapshot - 1) }
    }
}

extension SegmentFile {
    /// Returns the position after the last commit whose records all have sequence numbers up to `last`.
    fileprivate func end(ofCommitsThrough last: UInt64) throws(LogError) -> Position {
        var position = start
        var end = start
        while true {
            switch try step(at: position) {
            case .records(let block):
                guard block.next.nextSequence <= last + 1 else { return end }
                position = block.next
                if !block.header.flags.contains(.commitContinues) { end = position }
            case .other(let block):
                if position == end { end = block.next }
                position = block.next
            // Damage is detected when the view is read.
            case .footer, .end, .invalid: return end
            }
        }
    }
}
