/// The last segment and the commits that are being written to it.
///
/// Not safe for concurrent use; ``OperationLog`` serializes access.
final class LogTail {
    let directory: String
    let fileSystem: any FileSystem
    let options: OperationLog.Options
    let storeIdentifier: StoreIdentifier

    /// The maximum number of bytes that a log with grouped durability writes before a commit has the flag *predecessors
    /// durable*.
    ///
    /// In a stretch of commits that were written while syncs ran, a changed bit looks like a torn tail.
    static let targetUnwitnessed = 65_536

    private(set) var segment: SegmentFile
    private(set) var isSealed: Bool
    /// Whether the segment is not encrypted with the key for new records.
    private var needsOtherKey: Bool
    private(set) var encoder: CommitEncoder
    private(set) var progress: SyncProgress
    private(set) var state = TailState.open
    /// The length of the file when all of it was last durable, and its length when the running sync began.
    private var durableOffset: UInt64
    private var syncingOffset: UInt64
    /// The offset of the last commit with the flag *predecessors durable*.
    private var witnessOffset: UInt64
    /// The offset up to which disk space is reserved for the segment.
    private var reservedOffset: UInt64 = 0
    private let lock: any FileLock
    private var end: EndRecorder
    private var isLockHandedOver = false
    private var isGivenUp = false
    /// The number of threads that work on sealed segments and snapshots.
    private var works = 0

    enum TailState: Equatable {
        case open
        /// The log accepts no new commits but still makes the encoded ones durable.
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

    /// The sequence number of the next record.
    var nextSequence: UInt64 { encoder.end.nextSequence }

    func checkOpen() throws(LogError) {
        switch state {
        case .open: return
        case .closing: throw .closed(cause: nil)
        case .closed(let cause): throw .closed(cause: cause)
        }
    }

    // MARK: Commits

    /// Whether the next commit belongs into a new segment. The last condition bounds the size of the footer.
    var needsSegment: Bool {
        isSealed || needsOtherKey
            || encoder.totals.blockCount > 0
                && (encoder.end.offset >= options.segmentSize || encoder.totals.entries.count >= 500_000)
    }

    /// Whether the segment is empty and the next commit belongs into it.
    var isAtStart: Bool { !isSealed && !needsOtherKey && encoder.totals.blockCount == 0 }

    /// Assigns the commit its sequence numbers and encodes it. Does not write to the file yet.
    ///
    /// - Parameter isWrittenAfterSync: Whether the commit is written only after the running sync has ended.
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

    /// The number of bytes from the last commit with the flag *predecessors durable* to the end.
    var unwitnessedBytes: UInt64 { encoder.end.offset - witnessOffset }

    /// Passes all encoded blocks to the operating system.
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
        // If the reservation fails, for lack of space or otherwise, a later write reports an actual shortage.
        do throws(FileSystemError) {
            try segment.file.reserve(reservedOffset - start, at: start)
        } catch {
            reservedOffset = .max
        }
    }

    /// Releases the reserved space that the segment will not use.
    private func giveBackReserved() throws(FileSystemError) {
        guard options.preallocation > 0, reservedOffset > 0 else { return }
        reservedOffset = 0
        try segment.file.truncate(to: encoder.offset)
    }

    /// Writes and syncs all encoded blocks. No sync may be running.
    func syncAlone() throws(LogError) {
        try writeOut()
        guard !progress.isWrittenDurable else { return }
        try mustSucceed(orCutTo: durableOffset) { () throws(FileSystemError) in try segment.file.sync() }
        progress.didSyncAlone()
        durableOffset = encoder.end.offset
    }

    // MARK: The shared sync

    func beginGathering() { progress.beginGathering() }

    /// Writes the encoded blocks and returns the file to sync.
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
        // Another thread's write may have failed in the meantime; the file was kept open for this sync.
        defer { releaseIfClosed() }
        guard let failure else { return }
        try mustSucceed(orCutTo: durableOffset) { () throws(FileSystemError) in throw failure }
    }

    // MARK: Segments

    /// Seals the segment and begins the next one. No sync may be running.
    ///
    /// Each step is durable before the next one begins. A crash between two steps leaves a state that ``Recovery``
    /// handles: a segment without footer, a sealed segment without successor, or an unfinished file that readers
    /// ignore.
    ///
    /// - Returns: The first sequence number of the sealed segment if recompressing it is worthwhile; otherwise nil.
    func startSegment() throws(LogError) -> UInt64? {
        let old = segment.header.firstSequence
        // If the commits were large, only the column form saves space. Such segments are not searched for when a log is
        // opened.
        let isWorthRepacking =
            SegmentRecompression.isWorthwhile(encoder.totals.rawBytes, encoder.totals.blockCount)
            || options.layout != nil && encoder.totals.rawBytes >= UInt64(SegmentRecompression.usualBlockSize / 4)
        // A segment without blocks cannot be sealed; it is replaced by one with another key.
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

    /// Records the end of the log if all of it is durable and the log is not closed.
    func recordEnd() {
        if case .closed = state { return }
        guard encoder.bytes.isEmpty, progress.phase == .idle, progress.isWrittenDurable else { return }
        end.record(LogEnd(lastSegment: segment.header.firstSequence, nextSequence: nextSequence))
    }

    // MARK: Closing

    func beginClosing() { state = .closing }

    /// Returns the lock. The caller must release it from now on, even if the log is closed elsewhere.
    func handOverLock() -> any FileLock {
        isLockHandedOver = true
        return lock
    }

    /// Closes the log permanently. The file stays open while a sync runs.
    func close(cause: FileSystemError?) {
        if case .closed = state { return }
        state = .closed(cause: cause)
        releaseIfClosed()
    }

    /// The error for commits that wait to become durable, or nil as long as they still can.
    var failureOfWaiting: LogError? {
        guard isGivenUp, case .closed(let cause) = state else { return nil }
        return cause.map { .writeFailed($0) } ?? .closed(cause: nil)
    }

    /// Registers work on other files of the log.
    ///
    /// The lock is kept while a sealed segment is recompressed, a snapshot is written or files are removed, because the
    /// next writer might do the same.
    func beginWork() throws(LogError) {
        try checkOpen()
        works += 1
    }

    func endWork() {
        works -= 1
        releaseIfClosed()
    }

    /// Makes the names in the directory durable.
    func syncDirectory() throws(LogError) {
        try checkOpen()
        try mustSucceed(orCutTo: nil) { () throws(FileSystemError) in try fileSystem.syncDirectory(directory) }
    }

    private func releaseIfClosed() {
        guard case .closed(let cause) = state, progress.phase == .idle else { return }
        if !isGivenUp {
            // After a failure the file is left as it is.
            if cause == nil { try? giveBackReserved() }
            segment.file.close()
        }
        isGivenUp = true
        if works == 0, !isLockHandedOver { lock.release() }
    }

    /// Runs an operation and closes the log if it fails.
    ///
    /// After a failed sync, a later one may report success although the bytes are lost.
    private func mustSucceed(
        orCutTo offset: UInt64?, _ body: () throws(FileSystemError) -> Void
    ) throws(LogError) {
        do {
            try body()
        } catch {
            // Without this, the next writer could read the commit from the system's cache and rely on it although it is
            // not on the disk. If this fails too, nothing else can be done.
            if let offset { try? segment.file.truncate(to: offset) }
            state = .closed(cause: error)
            releaseIfClosed()
            throw .writeFailed(error)
        }
    }
}
