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
        return try writeSnapshot(in: directory, before: place.nextSequence, chain: place.chain, body)
    }

    /// Writes the state in front of a segment that is there already, for those who keep the history from there on.
    ///
    /// The state that the body adds must be that of all records in front of the segment. Otherwise as
    /// ``writeSnapshot(_:)``; the log itself stays as it is.
    ///
    /// - Parameter first: The first record of a segment.
    public func writeSnapshot(
        inFrontOf first: UInt64, _ body: (inout SnapshotWriter) throws -> Void
    ) throws -> SnapshotFile {
        let directory = try beginFileWork()
        defer { endFileWork() }
        let segment = try SegmentFile(
            fileSystem, directory: directory, firstSequence: first, mode: .read, keys: options.keys)
        return try writeSnapshot(in: directory, before: first, chain: segment.chain, body)
    }

    private func writeSnapshot(
        in directory: String, before first: UInt64, chain: UInt32, _ body: (inout SnapshotWriter) throws -> Void
    ) throws -> SnapshotFile {
        let header = SegmentHeader(
            storeIdentifier: storeIdentifier, firstSequence: first, chain: chain, isSnapshot: true,
            key: options.keys.first)
        let writer = SnapshotFileWriter(
            fileSystem: fileSystem, directory: directory, keys: options.keys, compression: options.compression)
        let snapshot = try writer.write(header, body)
        try syncDirectory()
        return snapshot
    }
}
