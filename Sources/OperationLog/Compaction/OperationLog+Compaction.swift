extension OperationLog {
    /// Removes the oldest segments, as long as all of their records are in front of `sequence` and of the newest
    /// snapshot that holds, and snapshots that are of no use any more. A segment that has some of the others stays
    /// whole; so does the last one. Without a snapshot nothing is removed.
    ///
    /// Reads that snapshot to its end first. Safe to repeat, also after a crash or an error in the middle: whatever is
    /// left is a log that begins at or in front of the snapshot.
    @discardableResult
    public func compact(keepingFrom sequence: UInt64) throws(LogError) -> CompactionReport {
        let directory = try beginFileWork()
        defer { endFileWork() }
        let reader = try LogReader(directory: directory, keys: options.keys, fileSystem: fileSystem)
        let compaction = Compaction(
            reader: reader,
            remove: { path throws(FileSystemError) in
                // What packs a segment again holds the same lock while it looks whether the old one is still there.
                try self.withTail { _ throws(FileSystemError) in try self.fileSystem.remove(path) }
            },
            syncDirectory: { () throws(LogError) in try self.syncDirectory() })
        return try compaction.run(keepingFrom: sequence)
    }
}
