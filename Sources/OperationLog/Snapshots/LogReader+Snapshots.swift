extension LogReader {
    /// Returns the snapshots that the log continues without a gap, in ascending order.
    ///
    /// An interrupted compaction can leave snapshots that are older than the first record. The records after them no
    /// longer exist, so these snapshots are excluded; the next compaction removes them.
    ///
    /// Reads names and sizes only: damage is detected when a snapshot is read.
    package func snapshots() throws(LogError) -> [SnapshotFile] {
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
                // It was removed since the directory was listed.
                guard error.isNotFound else { throw .fileSystem(error) }
            }
        }
        return files
    }

    /// Opens a snapshot for reading.
    ///
    /// - Throws: ``LogError/damaged(_:)`` if the file's header is invalid.
    package func snapshot(_ file: SnapshotFile) throws(LogError) -> SnapshotCursor {
        let segment = try SegmentFile(
            fileSystem, directory: directory, .snapshot, firstSequence: file.sequence, mode: .read, keys: keys)
        try segment.checkStore(storeIdentifier)
        return SnapshotCursor(segment)
    }

    /// Reads the whole snapshot without keeping its items.
    ///
    /// - Throws: ``LogError/damaged(_:)`` if the snapshot is incomplete or changed.
    package func verify(_ file: SnapshotFile) throws(LogError) -> SnapshotContents {
        let cursor = try snapshot(file)
        while try cursor.next() != nil {}
        return cursor.contents
    }
}
