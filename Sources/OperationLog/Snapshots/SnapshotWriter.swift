/// Takes the items of a snapshot one after the other and writes them as they come, in memory for one block.
public struct SnapshotWriter {
    let segment: SegmentWriter

    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``, or a failure to write. The snapshot is not made then;
    ///   the log goes on.
    public mutating func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        try withBytes(of: payload) { bytes throws(LogError) in try add(kind: kind, payload: bytes) }
    }

    public mutating func add(kind: UInt8, payload: UnsafeRawBufferPointer) throws(LogError) {
        try segment.add(kind: kind, payload: payload)
    }

    /// How many items were added.
    public var itemCount: UInt64 { segment.recordCount }
}

/// Makes snapshot files. The caller has the lock, and sees to it that nobody else makes one meanwhile.
struct SnapshotFileWriter {
    let fileSystem: any FileSystem
    let directory: String
    let keys: [LogKey]
    let compression: OperationLog.Options.Compression

    /// The file gets its name when it is whole and durable; the name is not, before the directory is synced.
    func write(
        _ header: SegmentHeader, _ body: (inout SnapshotWriter) throws -> Void
    ) throws -> SnapshotFile {
        let path = directory + "/" + SegmentName.name(.snapshot, firstSequence: header.firstSequence)
        let unfinished = path + SegmentName.unfinishedSuffix
        try removeIfPresent(unfinished)
        do {
            // A snapshot is read from its beginning and as a whole: one run compresses best.
            let segment = try SegmentWriter(
                fileSystem, path: unfinished, header: header, keys: keys, compression: compression, runSize: .max)
            var writer = SnapshotWriter(segment: segment)
            try body(&writer)
            let bytes = try segment.seal()
            try onFiles { () throws(FileSystemError) in try fileSystem.rename(unfinished, to: path) }
            return SnapshotFile(sequence: header.firstSequence, path: path, bytes: bytes)
        } catch {
            // What could not be written takes no space; where this fails as well, the next open does it.
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
