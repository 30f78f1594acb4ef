/// The last segment and what is on its way into it. Used by one thread at a time; ``OperationLog`` sees to that.
final class LogTail {
    let directory: String
    let fileSystem: any FileSystem
    let options: OperationLog.Options
    let storeIdentifier: StoreIdentifier

    /// How many bytes a log with grouped durability writes at most before a commit says *predecessors durable*. In a
    /// stretch of commits that were written while syncs ran, a changed bit looks like the torn end of the log.
    static let targetUnwitnessed = 65_536

    private(set) var segment: SegmentFile
    private(set) var isSealed: Bool
    /// The segment is not encrypted with the key that new records are to be encrypted with.
    private var needsOtherKey: Bool
    private(set) var encoder: CommitEncoder
    private(set) var progress: SyncProgress
    private(set) var state = State.open
    /// The file's length when all in it was durable last, and when the sync that runs began.
    private var durableOffset: UInt64
    private var syncingOffset: UInt64
    /// Where the last commit is that says that all before it was durable.
    private var witnessOffset: UInt64
    /// Up to where the disk has set space aside for the segment.
    private var reservedOffset: UInt64 = 0
    private let lock: any FileLock
    private var end: EndRecorder
    private var isLockHandedOver = false
    private var isGivenUp = false
    /// How many threads work on sealed segments and snapshots.
    private var works = 0

    enum State: Equatable {
        case open
        /// Takes no new commits, but brings to the disk what was encoded.
        case closing
        case closed(cause: FileSystemError?)
    }

    init(
        directory: String, fileSystem: any FileSystem, options: OperationLog.Options, lock: any FileLock,
        found: Recovery.Found
    ) throws(LogError) {
        self.directory = directory
        self.fileSystem = fileSystem
        self.options = options
        self.lock = lock
        segment = found.segment
        isSealed = found.isSealed
        end = found.end
        needsOtherKey = !found.segment.header.isEncrypted(with: options.keys.first)
        storeIdentifier = found.segment.header.storeIdentifier
        encoder = try CommitEncoder(
            compression: options.compression, runSize: options.runSize, binding: found.segment.binding,
            position: found.position, totals: found.totals)
        progress = SyncProgress(durable: found.position.nextSequence - 1)
        durableOffset = found.position.offset
        syncingOffset = found.position.offset
        witnessOffset = found.position.offset
    }

    /// The number that the next record gets.
    var nextSequence: UInt64 { encoder.end.nextSequence }

    func checkOpen() throws(LogError) {
        switch state {
        case .open: return
        case .closing: throw .closed(cause: nil)
        case .closed(let cause): throw .closed(cause: cause)
        }
    }

    // MARK: Commits

    /// Whether the next commit goes into another segment. The last condition bounds the footer.
    var needsSegment: Bool {
        isSealed || needsOtherKey
            || encoder.totals.blockCount > 0
                && (encoder.end.offset >= options.segmentSize || encoder.totals.entries.count >= 500_000)
    }

    /// Nothing is in the segment yet, and the next commit goes into it.
    var isAtStart: Bool { !isSealed && !needsOtherKey && encoder.totals.blockCount == 0 }

    /// Gives the commit its numbers and its place behind the one before. Nothing is in the file yet.
    ///
    /// - Parameter isWrittenAfterSync: it will not be written before the sync that runs now has ended.
    func encode(_ commit: Commit, isWrittenAfterSync: Bool) throws(LogError) -> ClosedRange<UInt64> {
        precondition(!commit.isEmpty, "a commit has at least one record")
        let first = nextSequence
        guard !first.addingReportingOverflow(UInt64(commit.recordCount)).overflow else { throw .sequenceExhausted }
        let isDurable = isWrittenAfterSync ? progress.isWrittenCovered : progress.isWrittenDurable
        let isWitness = isDurable && encoder.bytes.isEmpty
        let offset = encoder.end.offset
        try encoder.encode(commit, predecessorsDurable: isWitness)
        if isWitness { witnessOffset = offset }
        progress.didEncode(through: nextSequence - 1)
        return first...nextSequence - 1
    }

    /// How much lies behind the last commit that says that all before it was durable.
    var unwitnessedBytes: UInt64 { encoder.end.offset - witnessOffset }

    /// Hands all that was encoded to the operating system.
    func writeOut() throws(LogError) {
        guard !encoder.bytes.isEmpty else { return }
        let offset = encoder.offset
        reserve()
        try mustSucceed(orCutTo: offset) { () throws(FileSystemError) in
            try segment.file.write(encoder.bytes, at: offset)
        }
        encoder.didWrite()
        progress.didWrite()
    }

    private func reserve() {
        let end = encoder.end.offset
        guard options.preallocation > 0, end > reservedOffset else { return }
        let start = max(encoder.offset, reservedOffset)
        reservedOffset = end + options.preallocation
        // Where it is refused, for want of room as well, writing says what really does not fit.
        do throws(FileSystemError) {
            try segment.file.reserve(reservedOffset - start, at: start)
        } catch {
            reservedOffset = .max
        }
    }

    /// What the segment will not use.
    private func giveBackReserved() throws(FileSystemError) {
        guard options.preallocation > 0, reservedOffset > 0 else { return }
        reservedOffset = 0
        try segment.file.truncate(to: encoder.offset)
    }

    /// Writes and syncs all that was encoded. No sync may be running.
    func syncAlone() throws(LogError) {
        try writeOut()
        guard !progress.isWrittenDurable else { return }
        try mustSucceed(orCutTo: durableOffset) { () throws(FileSystemError) in try segment.file.sync() }
        progress.didSyncAlone()
        durableOffset = encoder.end.offset
    }

    // MARK: The shared sync

    func beginGathering() { progress.beginGathering() }

    /// Writes what was encoded and returns the file to sync.
    func beginSync() throws(LogError) -> any File {
        do {
            try writeOut()
        } catch {
            progress.endSync(isDurable: false)
            releaseIfClosed()
            throw error
        }
        syncingOffset = encoder.offset
        progress.beginSync()
        return segment.file
    }

    func endSync(_ failure: FileSystemError?) throws(LogError) {
        progress.endSync(isDurable: failure == nil)
        if failure == nil { durableOffset = syncingOffset }
        // Another thread's write may have failed meanwhile; the file was left open for this sync.
        defer { releaseIfClosed() }
        guard let failure else { return }
        try mustSucceed(orCutTo: durableOffset) { () throws(FileSystemError) in throw failure }
    }

    // MARK: Segments

    /// Seals the segment and begins the next. Each step is durable before the next one begins, so that a crash between
    /// two leaves what ``Recovery`` knows: a segment without footer, a sealed one without successor, or an unfinished
    /// file that nobody reads. No sync may be running.
    ///
    /// Returns the first sequence number of the sealed segment where it is worth packing again.
    func startSegment() throws(LogError) -> UInt64? {
        let old = segment.header.firstSequence
        // Of large commits only columns are left to gain. When a log is opened such segments are not looked for.
        let isWorthRepacking =
            SegmentRepack.isWorthwhile(encoder.totals.rawBytes, encoder.totals.blockCount)
            || options.layout != nil && encoder.totals.rawBytes >= UInt64(SegmentRepack.usualBlockSize / 4)
        // One without blocks cannot be sealed; it is replaced by one with another key.
        let isEmpty = encoder.totals.blockCount == 0
        if !isSealed, !isEmpty { try seal() }
        let header = SegmentHeader(
            storeIdentifier: storeIdentifier, firstSequence: nextSequence, chain: encoder.end.chain,
            isFirst: isEmpty && segment.header.isFirst, key: options.keys.first)
        try mustSucceed(orCutTo: nil) { () throws(FileSystemError) in
            try fileSystem.createSegment(header, in: directory)
            try fileSystem.syncDirectory(directory)
        }
        do {
            segment = try SegmentFile(
                fileSystem, directory: directory, firstSequence: nextSequence, mode: .readWrite, keys: options.keys)
        } catch {
            guard case .fileSystem(let failure) = error else {
                close(cause: nil)
                throw error
            }
            close(cause: failure)
            throw .writeFailed(failure)
        }
        isSealed = false
        needsOtherKey = false
        encoder.begin(segment)
        durableOffset = segment.start.offset
        witnessOffset = segment.start.offset
        recordEnd()
        return isWorthRepacking ? old : nil
    }

    private func seal() throws(LogError) {
        try syncAlone()
        try mustSucceed(orCutTo: encoder.end.offset) { () throws(FileSystemError) in
            try giveBackReserved()
            try segment.file.write(encoder.sealBytes(), at: encoder.end.offset)
            try segment.file.sync()
        }
        isSealed = true
    }

    /// Notes how far the log goes, if all of it is durable and it takes, or took until now, new commits.
    func recordEnd() {
        if case .closed = state { return }
        guard encoder.bytes.isEmpty, progress.phase == .idle, progress.isWrittenDurable else { return }
        end.record(LogEnd(lastSegment: segment.header.firstSequence, nextSequence: nextSequence))
    }

    // MARK: Closing

    func beginClosing() { state = .closing }

    /// The lock is the caller's to release from now on, whoever closes the log.
    func handOverLock() -> any FileLock {
        isLockHandedOver = true
        return lock
    }

    /// For good. The file stays open while a sync runs.
    func close(cause: FileSystemError?) {
        if case .closed = state { return }
        state = .closed(cause: cause)
        releaseIfClosed()
    }

    /// Nil as long as commits that are not durable yet can still become so.
    var failureOfWaiting: LogError? {
        guard isGivenUp, case .closed(let cause) = state else { return nil }
        return cause.map { .writeFailed($0) } ?? .closed(cause: nil)
    }

    /// The lock is kept while a sealed segment is being packed again, a snapshot made or files removed: the next writer
    /// might do the same.
    func beginWork() throws(LogError) {
        try checkOpen()
        works += 1
    }

    func endWork() {
        works -= 1
        releaseIfClosed()
    }

    /// Makes names in the directory durable.
    func syncDirectory() throws(LogError) {
        try checkOpen()
        try mustSucceed(orCutTo: nil) { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
    }

    private func releaseIfClosed() {
        guard case .closed(let cause) = state, progress.phase == .idle else { return }
        if !isGivenUp {
            // A log that failed is left as it is.
            if cause == nil { try? giveBackReserved() }
            segment.file.close()
        }
        isGivenUp = true
        if works == 0, !isLockHandedOver { lock.release() }
    }

    /// Does what must not fail. If it does, the log is closed: a sync that failed once may report success the next time
    /// although the bytes are gone.
    private func mustSucceed(
        orCutTo offset: UInt64?, _ body: () throws(FileSystemError) -> Void
    ) throws(LogError) {
        do {
            try body()
        } catch {
            // Without this, the next to open the file could find the commit in the system's cache, and count on it,
            // while the disk does not have it. Where it fails too there is nothing left to do.
            if let offset { try? segment.file.truncate(to: offset) }
            state = .closed(cause: error)
            releaseIfClosed()
            throw .writeFailed(error)
        }
    }
}
