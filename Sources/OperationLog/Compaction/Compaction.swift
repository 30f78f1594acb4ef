/// Removes the files that a snapshot makes superfluous: the log's oldest segments first, then older snapshots.
///
/// The directory is synced after each segment. So whatever a crash leaves is a log without a gap that begins at or in
/// front of the snapshot: a log that was compacted a little less. The caller has the lock.
struct Compaction {
    let reader: LogReader
    let remove: (_ path: String) throws(FileSystemError) -> Void
    /// After a failure the log takes nothing more.
    let syncDirectory: () throws(LogError) -> Void

    func run(keepingFrom sequence: UInt64) throws(LogError) -> CompactionReport {
        let listing = try reader.listing()
        guard let first = listing.segments.first else { throw .noLog(path: reader.directory) }
        guard let snapshot = try newestWhole(listing) else {
            return CompactionReport(firstSequence: first, snapshot: nil)
        }
        let limit = min(sequence, snapshot.sequence)
        // What lies in front of a segment's successor lies in front of the limit as well; the last segment stays.
        let removable = zip(listing.segments, listing.segments.dropFirst()).prefix { $0.1 <= limit }
        var report = CompactionReport(firstSequence: removable.last?.1 ?? first, snapshot: snapshot)
        // The snapshot's own name, before anything is removed that only it can replace.
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

    /// The newest snapshot that was read to its end and holds. What is about to be removed cannot be had back, so a look
    /// at its two ends is not enough.
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

    /// Those in front of what the log still has, but where nothing else is left to fall back upon; and see
    /// ``SnapshotSpacing``.
    private func superfluousSnapshots(
        _ listing: LogListing, newest: UInt64, first: UInt64
    ) throws(LogError) -> [UInt64] {
        let older = listing.snapshots.filter { $0 < newest }
        let whole = try SnapshotSet(
            reader.fileSystem, directory: reader.directory, sequences: older.filter { $0 >= first }, keys: reader.keys)
        let fallback = whole.newest
        let usable = older.filter { $0 >= first } + [newest]
        let superfluous = Set(SnapshotSpacing.superfluous(usable, first: first))
        return older.filter { $0 != fallback && ($0 < first || superfluous.contains($0)) }
    }

    /// Returns the file's size.
    private func remove(_ form: SegmentName.Form, _ sequence: UInt64) throws(LogError) -> UInt64 {
        let path = reader.directory + "/" + SegmentName.name(form, firstSequence: sequence)
        return try onFiles { () throws(FileSystemError) in
            let file = try reader.fileSystem.open(path, .read)
            let size = try file.size()
            file.close()
            try remove(path)
            return size
        }
    }
}
