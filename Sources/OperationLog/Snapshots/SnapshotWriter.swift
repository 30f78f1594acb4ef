/// Writes the items of a snapshot as they are added. Memory use is bounded by one block.
package struct SnapshotWriter {
    let segment: SegmentWriter

    /// Adds an item.
    ///
    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``, or a write error. In that case the snapshot is not
    ///   created; the log stays open.
    package mutating func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        try withBytes(of: payload) { bytes throws(LogError) in try add(kind: kind, payload: bytes) }
    }

    package mutating func add(kind: UInt8, payload: UnsafeRawBufferPointer) throws(LogError) {
        try segment.add(kind: kind, payload: payload)
    }
}

/// Creates snapshot files. The caller holds the lock and ensures that no other snapshot is written at the same time.
struct SnapshotFileWriter {
    let fileSystem: any FileSystem
    let directory: String
    let keys: [LogKey]
    let compression: OperationLog.Options.Compression

    /// Writes a snapshot.
    ///
    /// The file gets its name when it is complete and durable. The name is durable after the directory is synced.
    func write(
        _ header: SegmentHeader, _ body: (inout SnapshotWriter) throws -> Void
    ) throws -> SnapshotFile {
        let path = directory + "/" + SegmentName.name(.snapshot, firstSequence: header.firstSequence)
        let unfinished = path + SegmentName.unfinishedSuffix
        try removeIfPresent(unfinished)
        do {
            // A snapshot is always read completely, from its beginning: one run compresses best.
            let segment = try SegmentWriter(
                fileSystem, path: unfinished, header: header, keys: keys, compression: compression, runSize: .max)
            var writer = SnapshotWriter(segment: segment)
            try body(&writer)
            let bytes = try segment.seal()
            try onFiles { () throws(FileSystemError) in try fileSystem.rename(unfinished, to: path) }
            return SnapshotFile(sequence: header.firstSequence, path: path, bytes: bytes)
        } catch {
            // Frees the space of the incomplete file. If this fails as well, the next opening does it.
            try? removeIfPresent(unfinished)
            throw error
        }
    }

    private func removeIfPresent(_ path: String) throws(LogError) {
        do {
            try fileSystem.remove(path)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
        }
    }
}
