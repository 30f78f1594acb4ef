extension OperationLog {
    /// Removes the oldest segments and the snapshots that are no longer useful.
    ///
    /// A segment is removed if all of its records precede both `sequence` and the newest intact snapshot. A segment
    /// that contains any later record stays whole, and so does the last segment. Without a snapshot nothing is removed.
    ///
    /// Reads that snapshot to its end first. Safe to repeat, also after a crash or an error: the remaining files always
    /// form a log that begins at or before the snapshot.
    @discardableResult
    package func compact(keepingFrom sequence: UInt64) throws(LogError) -> CompactionReport {
        let directory = try beginFileWork()
        defer { endFileWork() }
        let reader = try LogReader(directory: directory, keys: options.keys, fileSystem: fileSystem)
        let compaction = Compaction(
            reader: reader,
            remove: { path throws(FileSystemError) in
                // Segment recompression holds the same lock while it checks whether the old segment still exists.
                try self.withTail { _ throws(FileSystemError) in try self.fileSystem.remove(path) }
            },
            syncDirectory: { () throws(LogError) in try self.syncDirectory() })
        return try compaction.run(keepingFrom: sequence)
    }
}
