/// The one writer of a log: appends records, durably and in order, and never changes what was appended.
///
/// The log knows nothing of what records mean. It numbers them from 1 without gaps; what one call appends is one
/// commit, found again as a whole or not at all.
///
/// Calls block on the disk. An instance belongs to one actor (or one thread), which should not be one of the shared
/// pool's; readers need no instance: see ``LogReader``.
public final class OperationLog {
    private let directory: String
    private let fileSystem: any FileSystem
    private let options: Options
    private let lock: any FileLock

    private var segment: SegmentFile
    private var totals: SegmentTotals
    private var isSealed: Bool
    /// The segment is not encrypted with the key that new records are to be encrypted with.
    private var needsOtherKey: Bool
    private let encoder: CommitEncoder
    private var state = State.open
    private var unsynced = false

    private enum State {
        case open
        case closed(cause: FileSystemError?)
    }

    public let storeIdentifier: StoreIdentifier

    /// The number that the next record gets.
    public var nextSequence: UInt64 { encoder.end.nextSequence }

    /// The last record that survives a loss of power; 0 when there is none. What a reader sees beyond it can still be
    /// lost.
    public private(set) var durableSequence: UInt64

    // MARK: Opening

    /// Takes the lock, brings a log that a crash left behind back to its last whole commit, and is ready to append.
    ///
    /// - Parameter directory: Holds the segments and nothing else. Made where missing; its parent must exist.
    /// - Throws: ``LogError/locked(path:processID:)`` while another writer lives. ``LogError/damaged(_:)`` where bytes
    ///   changed that a crash cannot explain; nothing is cut then.
    public static func open(
        directory: String, options: Options = Options(), fileSystem: any FileSystem = PosixFileSystem()
    ) throws(LogError) -> (log: OperationLog, recovery: RecoveryReport) {
        let lock = try takeLock(directory: directory, options: options, fileSystem: fileSystem)
        let recovery = Recovery(fileSystem: fileSystem, directory: directory, keys: options.keys)
        let names = try existingNames(directory: directory, options: options, fileSystem: fileSystem)
        let removed = try recovery.removeUnfinished(names)
        let firsts = SegmentName.sorted(names)

        let found: Recovery.Found
        if firsts.isEmpty {
            guard options.creation == .ifMissing else { throw .noLog(path: directory) }
            found = try recovery.createFirst(options.storeIdentifier ?? .random())
        } else {
            found = try recovery.recover(firsts)
        }
        let identifier = found.segment.header.storeIdentifier
        if let expected = options.storeIdentifier, expected != identifier {
            throw .otherStore(path: directory, expected: expected, found: identifier)
        }
        // Once for all of the above: removed, renamed or made by a process that died before it came to this.
        try onFiles { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
        let encoder = try CommitEncoder(options: options, position: found.position)
        let log = OperationLog(
            directory: directory, fileSystem: fileSystem, options: options, lock: lock, found: found, encoder: encoder)
        let report = RecoveryReport(
            created: firsts.isEmpty, segments: found.segments, nextSequence: found.position.nextSequence,
            cut: found.cut, removedFiles: removed)
        return (log, report)
    }

    private init(
        directory: String, fileSystem: any FileSystem, options: Options, lock: any FileLock, found: Recovery.Found,
        encoder: CommitEncoder
    ) {
        self.directory = directory
        self.fileSystem = fileSystem
        self.options = options
        self.lock = lock
        self.encoder = encoder
        segment = found.segment
        totals = found.totals
        isSealed = found.isSealed
        needsOtherKey = !found.segment.header.isEncrypted(with: options.keys.first)
        storeIdentifier = found.segment.header.storeIdentifier
        durableSequence = found.position.nextSequence - 1
    }

    private static func takeLock(
        directory: String, options: Options, fileSystem: any FileSystem
    ) throws(LogError) -> any FileLock {
        let path = options.lockPath ?? parent(of: directory) + "/LOCK"
        switch try onFiles({ () throws(FileSystemError) in try fileSystem.lock(path) }) {
        case .taken(let lock): return lock
        case .heldByAnother(let processID): throw .locked(path: path, processID: processID)
        }
    }

    private static func existingNames(
        directory: String, options: Options, fileSystem: any FileSystem
    ) throws(LogError) -> [String] {
        do {
            return try fileSystem.list(directory)
        } catch {
            guard error.isNotFound else { throw .fileSystem(error) }
        }
        guard options.creation == .ifMissing else { throw .noLog(path: directory) }
        try onFiles { () throws(FileSystemError) in
            try fileSystem.createDirectory(directory)
            try fileSystem.syncDirectory(parent(of: directory))
        }
        return []
    }

    private static func parent(of directory: String) -> String {
        var path = Substring(directory)
        while path.count > 1, path.last == "/" { path.removeLast() }
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: Appending

    /// Appends one commit of at least one record and returns the records' sequence numbers. When it returns, the commit
    /// is as durable as ``Options/durability`` says.
    ///
    /// - Throws: ``LogError/writeFailed(_:)`` when the disk refuses: then this log takes nothing more, and whether the
    ///   commit is kept shows when the log is opened again. Any other error: nothing was appended, the log goes on.
    @discardableResult
    public func append(_ records: [(kind: UInt8, payload: [UInt8])]) throws(LogError) -> ClosedRange<UInt64> {
        precondition(!records.isEmpty, "a commit has at least one record")
        try checkOpen()
        for record in records where record.payload.count > LogFormat.maximumPayload {
            throw .recordTooLarge(bytes: record.payload.count, maximum: LogFormat.maximumPayload)
        }
        let first = nextSequence
        guard !first.addingReportingOverflow(UInt64(records.count)).overflow else { throw .sequenceExhausted }

        if isSealed || isFull || needsOtherKey { try startSegment() }
        try encoder.encode(records, binding: segment.binding, predecessorsDurable: !unsynced)
        guard let start = encoder.blocks.first?.offset else { preconditionFailure("a commit has a block") }
        try writing(orCutTo: start) { () throws(FileSystemError) in
            try segment.file.write(encoder.bytes, at: start)
            if options.durability == .everyCommit { try segment.file.sync() }
        }
        for block in encoder.blocks {
            totals.add(block.header, offset: block.offset, bytes: encoder.bytes[block.range])
        }
        if options.durability == .everyCommit {
            durableSequence = nextSequence - 1
        } else {
            unsynced = true
        }
        return first...nextSequence - 1
    }

    /// Makes everything appended so far durable.
    public func sync() throws(LogError) {
        try checkOpen()
        guard unsynced else { return }
        try writing(orCutTo: nil) { () throws(FileSystemError) in try segment.file.sync() }
        unsynced = false
        durableSequence = nextSequence - 1
    }

    /// Lets go of the files and the lock. What was appended without ``sync()`` and with ``Options/Durability/none``
    /// stays with the operating system. Later appends throw ``LogError/closed(cause:)``.
    public func close() {
        if case .open = state { closeForGood(cause: nil) }
    }

    // MARK: Segments

    /// The second condition bounds the footer.
    private var isFull: Bool {
        (encoder.end.offset >= options.segmentSize || totals.entries.count >= 500_000) && totals.blockCount > 0
    }

    /// Seals the segment and begins the next. Each step is durable before the next one begins, so that a crash between
    /// two leaves what ``Recovery`` knows: a segment without footer, a sealed one without successor, or an unfinished
    /// file that nobody reads.
    private func startSegment() throws(LogError) {
        // One without blocks cannot be sealed; it is replaced by one with another key.
        let isEmpty = totals.blockCount == 0
        try writing(orCutTo: nil) { () throws(FileSystemError) in
            if !isSealed, !isEmpty {
                if unsynced { try segment.file.sync() }
                try segment.file.write(sealBytes(), at: encoder.end.offset)
                try segment.file.sync()
            }
        }
        isSealed = true
        unsynced = false
        durableSequence = nextSequence - 1
        let header = SegmentHeader(
            storeIdentifier: storeIdentifier, firstSequence: nextSequence, chain: encoder.end.chain,
            isFirst: isEmpty && segment.header.isFirst,
            key: options.keys.first)
        try writing(orCutTo: nil) { () throws(FileSystemError) in
            try fileSystem.createSegment(header, in: directory)
            try fileSystem.syncDirectory(directory)
        }
        do {
            segment = try SegmentFile(
                fileSystem, directory: directory, firstSequence: nextSequence, mode: .readWrite,
                keys: options.keys)
        } catch {
            guard case .fileSystem(let failure) = error else {
                closeForGood(cause: nil)
                throw error
            }
            closeForGood(cause: failure)
            throw .writeFailed(failure)
        }
        totals = SegmentTotals(header: header)
        isSealed = false
        needsOtherKey = false
        encoder.startRun(at: segment.start)
    }

    private func sealBytes() -> [UInt8] {
        let end = encoder.end
        let payload = totals.footer(lastSequence: end.nextSequence - 1).encoded()
        let header = BlockHeader(
            type: BlockType.footer, method: BlockMethod.stored, flags: .predecessorsDurable,
            firstSequence: end.nextSequence, recordCount: 0, rawLength: UInt32(payload.count),
            storedLength: UInt32(payload.count), chainBefore: end.chain, chainAfter: end.chain,
            payloadChecksum: crc32c(payload[...]))
        var bytes = [UInt8](repeating: 0, count: BlockHeader.Layout.byteCount)
        header.encode(into: &bytes, at: 0, binding: segment.binding)
        bytes.append(contentsOf: payload)
        bytes.append(
            contentsOf: SegmentTrailer.encoded(footerOffset: end.offset, segmentChecksum: segment.binding.checksum))
        return bytes
    }

    // MARK: Failing

    private func checkOpen() throws(LogError) {
        if case .closed(let cause) = state { throw .closed(cause: cause) }
    }

    /// Does what must not fail. If it does, the log is closed: a sync that failed once may report success the next time
    /// although the bytes are gone.
    private func writing(
        orCutTo offset: UInt64?, _ body: () throws(FileSystemError) -> Void
    ) throws(LogError) {
        do {
            try body()
        } catch {
            // Without this, the next to open the file could find the commit in the system's cache, and count on it,
            // while the disk does not have it. Where it fails too there is nothing left to do.
            if let offset { try? segment.file.truncate(to: offset) }
            closeForGood(cause: error)
            throw .writeFailed(error)
        }
    }

    private func closeForGood(cause: FileSystemError?) {
        state = .closed(cause: cause)
        segment.file.close()
        lock.release()
    }
}
