/// A log as it was when its last record was another one: its first records, and nothing of what came behind them.
///
/// Made over the log's own files, of which it changes none; it can be read like any log, and appended to, which is seen in
/// ``fileSystem`` only. Takes no lock: a writer, in this process or another, may append to the log meanwhile.
public struct LogPast: Sendable {
    /// Where the past is, under the log's own paths.
    public let fileSystem: OverlayFileSystem
    public let directory: String
    /// Of the last record; 0 where there is none.
    public let lastSequence: UInt64

    /// - Parameters:
    ///   - last: Its last record; nil for all that are there now. One that the log does not have yet is the same.
    ///   - fileSystem: Where the log is; only read.
    /// - Throws: ``LogError/compacted(first:)`` where a compaction has removed what came before, and no snapshot that is not
    ///   younger than the record tells of it: the first record of which the past can be made. Otherwise what a ``LogReader``
    ///   throws. Damage in front of the record shows when the past is read; see ``LogRepair`` then.
    ///
    /// Costs the reading of one segment, which is kept in memory, and the writing of less than one block.
    public init(
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

    /// Takes away what came later: whole files, then blocks, and then writes the records of the block that was cut anew.
    private func cut(_ listing: LogListing, _ reader: LogReader) throws(LogError) {
        let kept = listing.segment(holding: max(lastSequence, listing.segments[0])) ?? listing.segments[0]
        do throws(FileSystemError) {
            for first in listing.segments where first > kept { try remove(.segment, first) }
            for sequence in listing.snapshots where sequence > lastSequence + 1 { try remove(.snapshot, sequence) }
            // It is shorter on purpose.
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

    private func remove(_ form: SegmentName.Form, _ first: UInt64) throws(FileSystemError) {
        do {
            try fileSystem.remove(directory + "/" + SegmentName.name(form, firstSequence: first))
        } catch {
            // A compaction was quicker.
            guard error.isNotFound else { throw error }
        }
    }

    /// Fewer than a block has, and so one commit.
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
    /// That the log can have ended with the record: it begins with the first one, or with a snapshot from before.
    fileprivate func checkReaches(_ last: UInt64, _ listing: LogListing) throws(LogError) {
        let oldest = try oldest(listing)
        if oldest.header.isFirst { return }
        let first = oldest.header.firstSequence
        guard let snapshot = listing.snapshots.first(where: { $0 >= first }) else { return }
        if last < snapshot - 1 { throw .compacted(first: snapshot - 1) }
    }
}

extension SegmentFile {
    /// Behind the last block of the last commit of which no record comes behind the given one.
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
            // What does not hold is found by whoever reads it.
            case .footer, .end, .invalid: return end
            }
        }
    }
}
