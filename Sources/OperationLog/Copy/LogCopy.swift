/// Writes a copy of a log: the same records under the same sequence numbers, and the same snapshots.
///
/// The copy is written to a directory of its own, which must not be open elsewhere. Commit boundaries are not
/// preserved. Memory use is bounded by one block.
package final class LogCopy {
    private let fileSystem: any FileSystem
    private let directory: String
    private let store: StoreIdentifier
    private let keys: [LogKey]
    private var segment: SegmentWriter?
    private var snapshot: SegmentWriter?
    private var hasSegments = false
    private var isFirst: Bool
    private var chain: UInt32
    private let options = OperationLog.Options()

    /// The sequence number of the next record.
    package private(set) var nextSequence: UInt64

    /// Creates the directory if it does not exist. Its parent must exist.
    ///
    /// - Parameters:
    ///   - firstSequence: 1, or the number of the first record after a compaction. In the latter case a snapshot must
    ///     be added before ``finish()``.
    ///   - keys: The first key encrypts the log. If the array is empty, the log is not encrypted.
    package init(
        directory: String, store: StoreIdentifier, firstSequence: UInt64 = 1, keys: [LogKey] = [],
        fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) {
        self.fileSystem = fileSystem
        self.directory = directory
        self.store = store
        self.keys = Array(keys.prefix(1))
        isFirst = firstSequence == 1
        nextSequence = max(1, firstSequence)
        chain = store.initialChain
        try onFiles { () throws(FileSystemError) in try fileSystem.createDirectory(directory) }
    }

    /// Appends a record under ``nextSequence`` and ends the current snapshot, if any.
    ///
    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``, or a write error. The copy is unusable afterwards.
    package func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        guard nextSequence < .max - 1 else { throw .sequenceExhausted }
        try sealSnapshot()
        if let segment, segment.end.offset >= options.segmentSize { try sealSegment() }
        if segment == nil {
            segment = try SegmentWriter(
                fileSystem, path: directory + "/" + SegmentName.name(firstSequence: nextSequence),
                header: header(isSnapshot: false), keys: keys, compression: options.compression,
                runSize: options.runSize)
            isFirst = false
            hasSegments = true
        }
        try segment?.add(kind: kind, payload: payload)
        nextSequence += 1
    }

    /// Adds an item to the snapshot before ``nextSequence``. The first item begins the snapshot, the next record ends
    /// it.
    ///
    /// - Throws: The same errors as ``add(kind:payload:)``.
    package func addSnapshotItem(kind: UInt8, payload: [UInt8]) throws(LogError) {
        if snapshot == nil {
            // A snapshot is made at the start of a segment and has that segment's chain value.
            try sealSegment()
            snapshot = try SegmentWriter(
                fileSystem, path: directory + "/" + SegmentName.name(.snapshot, firstSequence: nextSequence),
                header: header(isSnapshot: true), keys: keys, compression: options.compression, runSize: .max)
        }
        try snapshot?.add(kind: kind, payload: payload)
    }

    /// Makes the copy durable, including the names in the directory. Nothing can be added afterwards.
    package func finish() throws(LogError) {
        try sealSnapshot()
        try sealSegment()
        if !hasSegments {
            let header = header(isSnapshot: false)
            try onFiles { () throws(FileSystemError) in try fileSystem.createSegment(header, in: directory) }
        }
        try onFiles { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
    }

    private func sealSegment() throws(LogError) {
        guard let segment else { return }
        _ = try segment.seal()
        chain = segment.end.chain
        self.segment = nil
    }

    private func sealSnapshot() throws(LogError) {
        guard let snapshot else { return }
        _ = try snapshot.seal()
        self.snapshot = nil
    }

    private func header(isSnapshot: Bool) -> SegmentHeader {
        SegmentHeader(
            storeIdentifier: store, firstSequence: nextSequence, chain: chain, isFirst: isSnapshot ? false : isFirst,
            isSnapshot: isSnapshot, key: keys.first)
    }
}
