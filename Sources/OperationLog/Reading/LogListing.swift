/// The segments and snapshots in a log's directory at the time it was listed.
struct LogListing: Equatable {
    /// The first sequence numbers of the segments, ascending.
    let segments: [UInt64]
    /// The numbers of the first records that the snapshots do not include, ascending.
    let snapshots: [UInt64]

    init(_ names: [String]) {
        segments = SegmentName.sorted(names)
        snapshots = SegmentName.sorted(names, .snapshot)
    }

    /// Returns the segment that would contain the record: the last one that does not begin after it. O(log *n*).
    func segment(holding sequence: UInt64) -> UInt64? {
        var low = 0
        var high = segments.count
        while low < high {
            let middle = (low + high) / 2
            if segments[middle] <= sequence { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? segments[low - 1] : nil
    }
}

extension LogReader {
    func listing() throws(LogError) -> LogListing { try Self.listing(directory, fileSystem) }

    static func listing(_ directory: String, _ fileSystem: any FileSystem) throws(LogError) -> LogListing {
        do {
            return LogListing(try fileSystem.list(directory))
        } catch {
            throw error.isNotFound ? .noLog(path: directory) : .fileSystem(error)
        }
    }

    /// Runs `body` with the listed files.
    ///
    /// If a file is missing or does not match and the directory has changed in the meantime, a writer was active, and
    /// `body` runs again with the new listing.
    static func withListing<Value>(
        _ directory: String, _ fileSystem: any FileSystem, _ body: (LogListing) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        var listing = try listing(directory, fileSystem)
        while true {
            do {
                return try body(listing)
            } catch {
                switch error {
                case .damaged, .noLog: break
                case .fileSystem(let failure) where failure.isNotFound: break
                default: throw error
                }
                let now = try Self.listing(directory, fileSystem)
                guard now != listing else { throw error }
                listing = now
            }
        }
    }

    func withListing<Value>(_ body: (LogListing) throws(LogError) -> Value) throws(LogError) -> Value {
        try Self.withListing(directory, fileSystem, body)
    }

    /// Checks that the log may begin with this segment, its first one.
    func checkBeginning(_ segment: SegmentFile, _ listing: LogListing) throws(LogError) {
        try segment.checkStore(storeIdentifier)
        guard !segment.header.isFirst else { return }
        let snapshots = try SnapshotSet(fileSystem, directory: directory, sequences: listing.snapshots, keys: keys)
        try segment.checkBeginning(snapshots)
    }
}

extension SegmentFile {
    func checkStore(_ store: StoreIdentifier) throws(LogError) {
        guard store == header.storeIdentifier else {
            throw .otherStore(path: path, expected: store, found: header.storeIdentifier)
        }
    }

    /// Checks that a log with these snapshots may begin with this segment.
    ///
    /// - Throws: The damage of the snapshot that the log would need, if there is one; otherwise that a segment is
    ///   missing.
    func checkBeginning(_ snapshots: SnapshotSet) throws(LogError) {
        if header.isFirst || snapshots.cover(header.firstSequence) { return }
        if let damage = snapshots.damages.last(where: { $0.sequence >= header.firstSequence }) {
            throw .damaged(damage)
        }
        throw damage(.missingSegment, at: start)
    }
}
