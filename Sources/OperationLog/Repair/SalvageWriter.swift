/// Writes a new log record by record: sealed segments, and the old log's snapshots at their positions.
///
/// Memory use is bounded by one block.
final class SalvageWriter {
    private let fileSystem: any FileSystem
    private let directory: String
    private let store: StoreIdentifier
    private let key: LogKey?
    private let keys: [LogKey]
    /// The snapshots that are not yet written, ascending.
    private var snapshots: ArraySlice<DamagedLog.Snapshot>
    private var segment: SegmentWriter?
    private var segments = 0
    private var isFirst: Bool
    private var next: UInt64
    private var chain: UInt32
    private let options = OperationLog.Options()

    /// - Parameters:
    ///   - chain: The chain value before `first`.
    ///   - keys: The keys for reading the old snapshots.
    init(
        _ fileSystem: any FileSystem, directory: String, store: StoreIdentifier, first: UInt64, chain: UInt32,
        isFirst: Bool, key: LogKey?, snapshots: [DamagedLog.Snapshot], keys: [LogKey]
    ) {
        self.fileSystem = fileSystem
        self.directory = directory
        self.store = store
        self.key = key
        self.keys = keys
        self.snapshots = snapshots[...]
        self.isFirst = isFirst
        self.chain = chain
        next = first
    }

    func add(kind: UInt8, payload: [UInt8]) throws(LogError) {
        try writeSnapshots()
        if let segment, segment.end.offset >= options.segmentSize { try seal() }
        if segment == nil { try begin() }
        try segment?.add(kind: kind, payload: payload)
        next += 1
    }

    /// Finishes the log. Everything is durable afterwards except the names in the directory.
    func finish() throws(LogError) {
        try writeSnapshots()
        try seal()
        guard segments == 0 else { return }
        let header = header(isSnapshot: false)
        try onFiles { () throws(FileSystemError) in try fileSystem.createSegment(header, in: directory) }
    }

    private func begin() throws(LogError) {
        segment = try SegmentWriter(
            fileSystem, path: directory + "/" + SegmentName.name(firstSequence: next),
            header: header(isSnapshot: false),
            keys: key.map { [$0] } ?? [], compression: options.compression, runSize: options.runSize)
        isFirst = false
        segments += 1
    }

    private func seal() throws(LogError) {
        guard let segment else { return }
        _ = try segment.seal()
        chain = segment.end.chain
        self.segment = nil
    }

    private func header(isSnapshot: Bool) -> SegmentHeader {
        SegmentHeader(
            storeIdentifier: store, firstSequence: next, chain: chain, isFirst: isSnapshot ? false : isFirst,
            isSnapshot: isSnapshot, key: key)
    }

    /// Writes the snapshots that precede the next record.
    ///
    /// A snapshot is made at the start of a segment and has that segment's chain value, so its bytes cannot simply be
    /// copied.
    private func writeSnapshots() throws(LogError) {
        while let snapshot = snapshots.first, snapshot.file.sequence <= next {
            snapshots.removeFirst()
            guard snapshot.file.sequence == next else { continue }
            try seal()
            try copy(snapshot)
        }
    }

    private func copy(_ snapshot: DamagedLog.Snapshot) throws(LogError) {
        let old = try SegmentFile(
            fileSystem, directory: parentDirectory(of: snapshot.file.path), .snapshot,
            firstSequence: snapshot.file.sequence, mode: .read, keys: keys)
        let cursor = SnapshotCursor(old)
        let path = directory + "/" + SegmentName.name(.snapshot, firstSequence: next)
        let new = try SegmentWriter(
            fileSystem, path: path, header: header(isSnapshot: true), keys: key.map { [$0] } ?? [],
            compression: options.compression, runSize: .max)
        while let item = try cursor.next() { try new.add(kind: item.kind, payload: Array(item.bytes)) }
        _ = try new.seal()
    }
}
