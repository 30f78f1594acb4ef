/// Removes the files that a snapshot supersedes: first the log's oldest segments, then older snapshots.
///
/// The directory is synced after each segment. A crash therefore leaves a log without gaps that begins at or before the
/// snapshot, as if the compaction had removed less. The caller holds the lock.
struct Compaction {
    let reader: LogReader
    let remove: (_ path: String) throws(FileSystemError) -> Void
    /// Syncs the directory. After a failure the log accepts no more commits.
    let syncDirectory: () throws(LogError) -> Void

    func run(keepingFrom sequence: UInt64) throws(LogError) -> CompactionReport {
        let listing = try reader.listing()
        guard let first = listing.segments.first else { throw .noLog(path: reader.directory) }
        guard let snapshot = try newestWhole(listing) else {
            return CompactionReport(firstSequence: first, snapshot: nil)
        }
        let limit = min(sequence, snapshot.sequence)
        // A segment precedes its successor, so if the successor begins at or before the limit, the segment ends before
        // it. The last segment is never removed.
        let removable = zip(listing.segments, listing.segments.dropFirst()).prefix { $0.1 <= limit }
        var report = CompactionReport(firstSequence: removable.last?.1 ?? first, snapshot: snapshot)
        // Makes the snapshot's own name durable before anything is removed that only the snapshot can replace.
        try syncDirectory()
        for (segment, _) in removable {
            report.removedBytes += try remove(.segment, segment)
            try syncDirectory()
            report.removedSegments += 1
        }
        let superfluous = try superfluousSnapshots(listing, newest: snapshot.sequence, first: report.firstSequence)
        for sequence in superfluous {
            report.removedBytes += try remove(.snapshot, sequence)
            report.removedSnapshots += 1
        }
        if !superfluous.isEmpty { try syncDirectory() }
        return report
    }

    /// Returns the newest snapshot that is intact, reading it to its end.
    ///
    /// Removed segments cannot be restored, so checking header and footer is not sufficient.
    private func newestWhole(_ listing: LogListing) throws(LogError) -> SnapshotFile? {
        for snapshot in try reader.snapshots().reversed() {
            do {
                let cursor = try reader.snapshot(snapshot)
                try checkPlace(of: cursor, listing)
                while try cursor.next() != nil {}
                return snapshot
            } catch {
                guard case .damaged = error else { throw error }
            }
        }
        return nil
    }

    private func checkPlace(of cursor: SnapshotCursor, _ listing: LogListing) throws(LogError) {
        guard listing.segments.contains(cursor.firstSequence) else { return }
        let segment = try reader.segment(cursor.firstSequence)
        guard segment.chain == cursor.chain else { throw segment.damage(.brokenChain, at: segment.start) }
    }

    /// Returns the snapshots before the log's first record, except the only remaining fallback, and those that
    /// ``SnapshotRetention`` selects.
    private func superfluousSnapshots(
        _ listing: LogListing, newest: UInt64, first: UInt64
    ) throws(LogError) -> [UInt64] {
        let older = listing.snapshots.filter { $0 < newest }
        let whole = try SnapshotSet(
            reader.fileSystem, directory: reader.directory, sequences: older.filter { $0 >= first }, keys: reader.keys)
        let fallback = whole.newest
        let usable = try (older.filter { $0 >= first } + [newest]).map { sequence throws(LogError) in
            try file(.snapshot, sequence)
        }
        let segments = try listing.segments.filter { $0 >= first }.map { sequence throws(LogError) in
            try file(.segment, sequence)
        }
        let superfluous = Set(SnapshotRetention.superfluous(usable, in: segments))
        return older.filter { $0 != fallback && ($0 < first || superfluous.contains($0)) }
    }

    private func path(_ form: SegmentName.LogFileKind, _ sequence: UInt64) -> String {
        reader.directory + "/" + SegmentName.name(form, firstSequence: sequence)
    }

    private func file(_ form: SegmentName.LogFileKind, _ sequence: UInt64) throws(LogError) -> SnapshotRetention.File {
        let path = path(form, sequence)
        let bytes = try onFiles { () throws(FileSystemError) in
            let file = try reader.fileSystem.open(path, .read)
            defer { file.close() }
            return try file.size()
        }
        return SnapshotRetention.File(sequence: sequence, bytes: bytes)
    }

    /// Removes a file and returns its size.
    private func remove(_ form: SegmentName.LogFileKind, _ sequence: UInt64) throws(LogError) -> UInt64 {
        let size = try file(form, sequence).bytes
        let path = path(form, sequence)
        try onFiles { () throws(FileSystemError) in try remove(path) }
        return size
    }
}
