/// Writes a log that has the records of another one, under the numbers that they have there, and its snapshots at their
/// places.
///
/// For a log that nobody has open, in a directory of its own. Commits are not kept apart. In memory for one block.
public final class LogCopy {
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

    /// The number that the next record gets.
    public private(set) var nextSequence: UInt64

    /// Makes the directory where there is none; its parent must exist.
    ///
    /// - Parameters:
    ///   - firstSequence: 1, or the number of the first record behind a compaction; then a snapshot must be added before
    ///     ``finish()``.
    ///   - keys: the first one encrypts the log; none leaves it in the clear.
    public init(
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

    /// The record gets ``nextSequence``. Ends the snapshot that is being written.
    ///
    /// - Throws: ``LogError/recordTooLarge(bytes:maximum:)``, or a failure to write. The log is of no use then.
    public func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
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

    /// An item of the snapshot in front of ``nextSequence``; the first one begins it, the next record ends it.
    ///
    /// - Throws: as ``add(kind:payload:)``.
    public func addSnapshotItem(kind: UInt8, payload: [UInt8]) throws(LogError) {
        if snapshot == nil {
            // A snapshot stands where a segment begins, and has its chain value.
            try sealSegment()
            snapshot = try SegmentWriter(
                fileSystem, path: directory + "/" + SegmentName.name(.snapshot, firstSequence: nextSequence),
                header: header(isSnapshot: true), keys: keys, compression: options.compression, runSize: .max)
        }
        try snapshot?.add(kind: kind, payload: payload)
    }

    /// Makes everything durable, the names in the directory included. Nothing may be added afterwards.
    public func finish() throws(LogError) {
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
