extension OperationLog {
    /// Writes the state in front of the next record, so that reading can begin there and ``compact(keepingFrom:)`` may
    /// remove what led to it. Everything appended so far is made durable, and a new segment begins.
    ///
    /// The state that the body adds must be that of all records appended before the call, and of none that is appended
    /// while it runs: others may append meanwhile. There must be one item at least. The body must not close the log.
    ///
    /// - Returns: The snapshot, durable. One that was made in front of the same record is replaced.
    /// - Throws: What the body throws, or a ``LogError``. Nothing is left behind then, and the log goes on unless the
    ///   error says that it is closed.
    public func writeSnapshot(_ body: (inout SnapshotWriter) throws -> Void) throws -> SnapshotFile {
        let directory = try beginFileWork()
        defer { endFileWork() }
        let place = try beginSegment()
        let header = SegmentHeader(
            storeIdentifier: storeIdentifier, firstSequence: place.nextSequence, chain: place.chain, isSnapshot: true,
            key: options.keys.first)
        let writer = SnapshotFileWriter(
            fileSystem: fileSystem, directory: directory, keys: options.keys, compression: options.compression)
        let snapshot = try writer.write(header, body)
        try syncDirectory()
        return snapshot
    }
}
