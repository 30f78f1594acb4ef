extension OperationLog {
    /// Writes a snapshot of the state before the next record.
    ///
    /// Reading can then begin at that record, and ``compact(keepingFrom:)`` may remove the records before it.
    /// Everything appended so far becomes durable, and a new segment begins.
    ///
    /// The state that `body` adds must include all records appended before the call and none that are appended while it
    /// runs: other threads may append at the same time. It must add at least one item. It must not close the log.
    ///
    /// - Returns: The durable snapshot. It replaces an existing snapshot at the same position.
    /// - Throws: The errors of `body`, or a ``LogError``. In that case no file is left, and the log stays open unless
    ///   the error states otherwise.
    package func writeSnapshot(_ body: (inout SnapshotWriter) throws -> Void) throws -> SnapshotFile {
        let directory = try beginFileWork()
        defer { endFileWork() }
        let place = try beginSegment()
        return try writeSnapshot(in: directory, before: place.nextSequence, chain: place.chain, body)
    }

    /// Writes a snapshot of the state before an existing segment, to retain the history from that segment on.
    ///
    /// The state that `body` adds must include all records before the segment. The log itself is not changed. Otherwise
    /// equivalent to ``writeSnapshot(_:)``.
    ///
    /// - Parameter first: The first record of a segment.
    package func writeSnapshot(
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
