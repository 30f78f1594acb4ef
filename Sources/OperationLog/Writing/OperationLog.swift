import Dispatch

/// The writer of a log: appends records durably and in order, and never changes appended records.
///
/// The log does not interpret records. It numbers them from 1 without gaps. The records of one call form a commit,
/// which is recovered completely or not at all.
///
/// An instance can be used by any number of threads and tasks concurrently. Commits are in the log in the order of
/// their sequence numbers. Readers need no instance; see ``LogReader``.
package final class OperationLog: Sendable {
    let monitor = ConditionLock()
    /// Accessed only while holding ``monitor``; see ``withTail(_:)``.
    private nonisolated(unsafe) let tail: LogTail
    /// The queue that syncs commits for which no thread waits.
    private let queue: DispatchQueue
    private nonisolated(unsafe) var waiting: [DurabilityWaiter] = []
    private nonisolated(unsafe) var isSyncQueued = false
    private nonisolated(unsafe) var isSyncTimed = false

    /// Held while a sealed segment is recompressed, one at a time.
    let repacking = ConditionLock()
    private let repackQueue = DispatchQueue(label: "tidelog.log.repack", qos: .utility)
    private nonisolated(unsafe) var unpacked: [UInt64] = []
    /// Held while a snapshot is written or files are removed, one operation at a time.
    private let fileWork = ConditionLock()
    let fileSystem: any FileSystem

    /// A task that waits until a record is durable.
    private struct DurabilityWaiter {
        let sequence: UInt64
        let continuation: CheckedContinuation<Result<Void, LogError>, Never>
    }

    package let storeIdentifier: StoreIdentifier
    package let options: Options

    /// - Parameter unpacked: The first sequence numbers of sealed segments that are worth recompressing.
    init(_ tail: LogTail, unpacked: [UInt64]) {
        self.tail = tail
        self.unpacked = unpacked
        storeIdentifier = tail.storeIdentifier
        options = tail.options
        queue = tail.options.syncQueue ?? DispatchQueue(label: "tidelog.log.sync")
        fileSystem = tail.fileSystem
        // Delayed, so that a program that opens the log briefly need not wait for recompression when it closes the log.
        if !unpacked.isEmpty { scheduleRecompression(after: 1) }
    }

    /// The sequence number of the next record.
    package var nextSequence: UInt64 { withTail { $0.nextSequence } }

    /// The last record that survives a loss of power, or 0 if there is none. Readers can see later records, which may
    /// still be lost.
    package var durableSequence: UInt64 { withTail { $0.progress.durable } }

    /// Runs `body` while holding the monitor. The closure must not call the log.
    func withTail<Value, Failure: Error>(
        _ body: (LogTail) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        monitor.lock()
        defer { monitor.unlock() }
        return try body(tail)
    }

    // MARK: Appending

    /// Appends a commit of at least one record. Blocks the calling thread until the commit has the durability of
    /// ``LogOptions/durability``.
    ///
    /// - Returns: The records' sequence numbers.
    /// - Throws: ``LogError/writeFailed(_:)`` if the disk reports an error. In that case the log is closed, and whether
    ///   the commit was kept is known when the log is reopened. After any other error, nothing was appended.
    @discardableResult
    package func append(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        monitor.lock()
        defer { monitor.unlock() }
        let range = try place(commit)
        if options.durability == .grouped { try waitUntilDurable(range.upperBound) }
        return range
    }

    /// Appends records as one commit, copying them.
    @discardableResult
    package func append(_ records: [(kind: UInt8, payload: [UInt8])]) throws(LogError) -> ClosedRange<UInt64> {
        var commit = Commit()
        for record in records { try commit.add(kind: record.kind, payload: record.payload) }
        return try append(commit)
    }

    /// Appends a commit like ``append(_:)-(Commit)``. With ``LogOptions/Durability/grouped``, suspends the task during the
    /// sync instead of blocking a thread.
    @discardableResult
    package func appendAndWait(_ commit: Commit) async throws(LogError) -> ClosedRange<UInt64> {
        let range = try placeLocked(commit)
        if options.durability == .grouped { try await waitUntilDurable(range.upperBound) }
        return range
    }

    /// Appends a commit and returns when the operating system has it.
    ///
    /// The commit survives the end of the process, and a loss of power once ``waitUntilDurable(_:)`` or ``sync()`` has
    /// returned. With ``LogOptions/Durability/everyCommit``, equivalent to ``append(_:)-(Commit)``.
    @discardableResult
    package func write(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        monitor.lock()
        defer { monitor.unlock() }
        guard options.durability == .grouped else { return try place(commit) }
        try prepare(commit)
        // Bounds the bytes in which damage cannot be distinguished from a torn tail; see `LogTail.targetUnwitnessed`.
        if tail.unwitnessedBytes > LogTail.targetUnwitnessed { try waitUntilDurable(tail.progress.encoded) }
        // Commits that other threads encoded to be written after the running sync must not be written before it ends.
        while !tail.encoder.bytes.isEmpty, tail.progress.isSyncing { monitor.wait(.idle) }
        try prepare(commit)
        let range = try tail.encode(commit, isWrittenAfterSync: false)
        try tail.writeOut()
        return range
    }

    private func placeLocked(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        monitor.lock()
        defer { monitor.unlock() }
        return try place(commit)
    }

    /// Writes and syncs the commit according to its durability, but does not wait for a shared sync.
    private func place(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        try prepare(commit)
        switch options.durability {
        case .everyCommit:
            let range = try tail.encode(commit, isWrittenAfterSync: false)
            try tail.syncAlone()
            return range
        case .grouped:
            // Not written before the next sync begins: a commit that is written while a sync runs cannot state that its
            // predecessors are durable.
            return try tail.encode(commit, isWrittenAfterSync: true)
        case .interval(let milliseconds):
            let range = try tail.encode(commit, isWrittenAfterSync: false)
            try tail.writeOut()
            queueSync(after: milliseconds)
            return range
        case .none:
            let range = try tail.encode(commit, isWrittenAfterSync: false)
            try tail.writeOut()
            return range
        }
    }

    /// Begins a new segment if the commit needs one.
    private func prepare(_ commit: Commit) throws(LogError) {
        try startSegment { $0.needsSegment }
    }

    /// Begins a segment unless the last one has no records yet, and returns its start. All appended records are durable
    /// then.
    func beginSegment() throws(LogError) -> SegmentFile.Position {
        monitor.lock()
        defer { monitor.unlock() }
        try startSegment { !$0.isAtStart }
        return tail.segment.start
    }

    private func startSegment(while isNeeded: (LogTail) -> Bool) throws(LogError) {
        try tail.checkOpen()
        while isNeeded(tail) {
            // The log may have been closed while the monitor was released.
            try tail.checkOpen()
            if tail.progress.phase == .idle {
                defer { announce() }
                if let sealed = try tail.startSegment() {
                    unpacked.append(sealed)
                    scheduleRecompression(after: 0)
                }
            } else {
                monitor.wait(.idle)
            }
        }
        try tail.checkOpen()
    }

    // MARK: Durability

    /// Makes everything appended so far durable. Blocks the calling thread.
    package func sync() throws(LogError) {
        monitor.lock()
        defer { monitor.unlock() }
        try tail.checkOpen()
        try waitUntilDurable(tail.progress.encoded)
    }

    /// Records the end of the log next to the segments, as ``close()`` does. A log that ends earlier is then known to
    /// be damaged.
    ///
    /// For times when nothing is being appended. Does nothing if a part of the log is not durable yet.
    package func recordEnd() { withTail { $0.recordEnd() } }

    /// Waits until the record survives a loss of power, or the last record if the log ends before it.
    ///
    /// The task is suspended, even if it is cancelled, because an appended record cannot be withdrawn.
    package func waitUntilDurable(_ sequence: UInt64) async throws(LogError) {
        let outcome = await withCheckedContinuation { continuation in
            monitor.lock()
            let sequence = min(sequence, tail.progress.encoded)
            let outcome: Result<Void, LogError>?
            if sequence <= tail.progress.durable {
                outcome = .success(())
            } else if let failure = tail.failureOfWaiting {
                outcome = .failure(failure)
            } else {
                outcome = nil
                waiting.append(DurabilityWaiter(sequence: sequence, continuation: continuation))
                queueSync()
            }
            monitor.unlock()
            if let outcome { continuation.resume(returning: outcome) }
        }
        try outcome.get()
    }

    /// Waits until the record is durable. The caller holds the monitor, which is released while waiting.
    private func waitUntilDurable(_ sequence: UInt64) throws(LogError) {
        // One waiter is woken to run the next sync. If that is unnecessary or cannot succeed, the next waiter must be
        // woken.
        defer { monitor.wakeOne(.sync(tail.progress.round + 1)) }
        while true {
            switch tail.progress.turn(for: sequence) {
            case .durable: return
            case .lead:
                if let failure = tail.failureOfWaiting { throw failure }
                try lead()
            case .wait(let round): monitor.wait(.sync(round))
            }
        }
    }

    /// Runs a sync for all commits that are encoded when it begins. Holds the monitor except during the sync itself.
    private func lead() throws(LogError) {
        tail.beginGathering()
        defer { announce() }
        let file = try tail.beginSync()
        monitor.unlock()
        var failure: FileSystemError?
        do throws(FileSystemError) { try file.sync() } catch { failure = error }
        monitor.lock()
        try tail.endSync(failure)
    }

    /// Wakes the waiters after a sync, or instead of one.
    private func announce() {
        let round = tail.progress.round
        monitor.wakeAll(.sync(round))
        // A waiter of the next round runs its sync. If the log has failed, no commit can become durable any more.
        if tail.failureOfWaiting == nil {
            monitor.wakeOne(.sync(round + 1))
        } else {
            monitor.wakeAll(.sync(round + 1))
        }
        monitor.wakeAll(.idle)
        if !waiting.isEmpty { resumeWaiting() }
    }

    private func resumeWaiting() {
        let failure = tail.failureOfWaiting
        let durable = tail.progress.durable
        let ready = waiting.filter { failure != nil || $0.sequence <= durable }
        waiting.removeAll { failure != nil || $0.sequence <= durable }
        if !waiting.isEmpty { queueSync() }
        // An executor runs foreign code, which must not run while the monitor is held.
        monitor.unlock()
        for each in ready {
            let isDurable = each.sequence <= durable
            each.continuation.resume(returning: isDurable ? .success(()) : .failure(failure ?? .closed(cause: nil)))
        }
        monitor.lock()
    }

    /// Queues an immediate sync for suspended tasks.
    private func queueSync() {
        guard !isSyncQueued else { return }
        isSyncQueued = true
        queue.async { [weak self] in self?.syncQueued { $0.isSyncQueued = false } }
    }

    private func queueSync(after milliseconds: Int) {
        guard !isSyncTimed else { return }
        isSyncTimed = true
        queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.syncQueued { $0.isSyncTimed = false }
        }
    }

    private func syncQueued(_ begin: (OperationLog) -> Void) {
        monitor.lock()
        defer { monitor.unlock() }
        begin(self)
        // A failure reaches the waiters through `announce`, and other callers with their next call.
        if tail.failureOfWaiting == nil {
            try? waitUntilDurable(tail.progress.encoded)
        } else {
            announce()
        }
    }

    // MARK: Recompression of sealed segments

    private func scheduleRecompression(after seconds: Int) {
        guard case .repacked = options.sealing else { return }
        repackQueue.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in self?.recompressPending() }
    }

    /// Returns the next segment to recompress, or nil if there is none or the log is not open.
    func nextUncompressedSegment() -> UInt64? {
        withTail { $0.state == .open ? unpacked.popLast() : nil }
    }

    // MARK: Closing

    /// Closes the files and releases the lock. Later calls throw ``LogError/closed(cause:)``.
    ///
    /// With ``LogOptions/Durability/grouped`` and ``LogOptions/Durability/interval(milliseconds:)``, first makes the appended
    /// records durable if the disk permits. With ``LogOptions/Durability/none``, they remain in the operating system's
    /// cache.
    package func close() { _ = close(keepingLock: false) }

    /// Closes the files like ``close()`` and returns the lock, so that no other writer opens the log before it is
    /// released.
    ///
    /// - Returns: The lock, or nil if the log was already closed.
    package func closeKeepingLock() -> (any FileLock)? { close(keepingLock: true) }

    private func close(keepingLock: Bool) -> (any FileLock)? {
        var lock: (any FileLock)?
        monitor.lock()
        if tail.state == .open {
            tail.beginClosing()
            if keepingLock { lock = tail.handOverLock() }
            if options.durability != .none { try? waitUntilDurable(tail.progress.encoded) }
            while tail.progress.phase != .idle { monitor.wait(.idle) }
            tail.recordEnd()
            tail.close(cause: nil)
            announce()
        }
        monitor.unlock()
        // A running recompression notices the closing before its next block and ends.
        repacking.lock()
        repacking.unlock()
        fileWork.lock()
        fileWork.unlock()
        return lock
    }

    // MARK: Snapshots and compaction

    /// Begins an operation on snapshots and segment files. Returns the log's directory.
    ///
    /// Until ``endFileWork()`` no other thread writes snapshots or removes files, and the lock is not released, even if
    /// the log is closed. Other threads can append.
    func beginFileWork() throws(LogError) -> String {
        fileWork.lock()
        do {
            return try withTail { tail throws(LogError) in
                try tail.beginWork()
                return tail.directory
            }
        } catch {
            fileWork.unlock()
            throw error
        }
    }

    func endFileWork() {
        withTail { $0.endWork() }
        fileWork.unlock()
    }

    /// Syncs the directory after files were renamed or removed. A failure closes the log.
    func syncDirectory() throws(LogError) {
        monitor.lock()
        defer { monitor.unlock() }
        do {
            try tail.syncDirectory()
        } catch {
            announce()
            throw error
        }
    }
}
