extension LogReader {
    /// Returns the snapshots with which the log goes on without a gap, in ascending order.
    ///
    /// A compaction that was interrupted can leave snapshots that are older than the first record. The records behind them
    /// are gone, so they are not among these; the next compaction removes them.
    ///
    /// Looks at names and sizes only: damage shows when a snapshot is read.
    public func snapshots() throws(LogError) -> [SnapshotFile] {
        var files: [SnapshotFile] = []
        let listing = try listing()
        let first = listing.segments.first ?? 0
        for sequence in listing.snapshots where sequence >= first {
            let path = directory + "/" + SegmentName.name(.snapshot, firstSequence: sequence)
            do {
                let file = try fileSystem.open(path, .read)
                defer { file.close() }
                files.append(SnapshotFile(sequence: sequence, path: path, bytes: try file.size()))
            } catch {
                // Removed since the directory was listed.
                guard error.isNotFound else { throw .fileSystem(error) }
            }
        }
        return files
    }

    /// - Throws: ``LogError/damaged(_:)`` where the file's header does not hold.
    public func snapshot(_ file: SnapshotFile) throws(LogError) -> SnapshotCursor {
        let segment = try SegmentFile(
            fileSystem, directory: directory, .snapshot, firstSequence: file.sequence, mode: .read, keys: keys)
        try segment.checkStore(storeIdentifier)
        return SnapshotCursor(segment)
    }

    /// Reads all of the snapshot and keeps nothing of it.
    ///
    /// - Throws: ``LogError/damaged(_:)`` where the snapshot is incomplete or its bytes changed.
    public func verify(_ file: SnapshotFile) throws(LogError) -> SnapshotContents {
        let cursor = try snapshot(file)
        while try cursor.next() != nil {}
        return cursor.contents
    }
}
