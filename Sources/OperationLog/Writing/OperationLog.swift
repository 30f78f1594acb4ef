import Dispatch

/// The one writer of a log: appends records, durably and in order, and never changes what was appended.
///
/// The log knows nothing of what records mean. It numbers them from 1 without gaps; what one call appends is one
/// commit, found again as a whole or not at all.
///
/// Any number of threads and tasks may use an instance at once. Commits are in the log in the order of their numbers.
/// Readers need no instance: see ``LogReader``.
public final class OperationLog: Sendable {
    let monitor = Monitor()
    /// Touched only by the thread that holds ``monitor``; see ``withTail(_:)``.
    private nonisolated(unsafe) let tail: LogTail
    /// Where commits are synced that no thread waits for.
    private let queue = DispatchQueue(label: "tidelog.log.sync")
    private nonisolated(unsafe) var waiting: [Waiting] = []
    private nonisolated(unsafe) var isSyncQueued = false
    private nonisolated(unsafe) var isSyncTimed = false

    /// Held while a sealed segment is packed again: one at a time.
    let repacking = Monitor()
    private let repackQueue = DispatchQueue(label: "tidelog.log.repack", qos: .utility)
    private nonisolated(unsafe) var unpacked: [UInt64] = []
    /// Held while snapshots are made and files removed: one at a time.
    private let fileWork = Monitor()
    let fileSystem: any FileSystem

    /// A task that waits for a record to be durable.
    private struct Waiting {
        let sequence: UInt64
        let continuation: CheckedContinuation<Result<Void, LogError>, Never>
    }

    public let storeIdentifier: StoreIdentifier
    public let options: Options

    /// `unpacked` are the first sequence numbers of sealed segments that are worth packing again.
    init(_ tail: LogTail, unpacked: [UInt64]) {
        self.tail = tail
        self.unpacked = unpacked
        storeIdentifier = tail.storeIdentifier
        options = tail.options
        fileSystem = tail.fileSystem
        // Not at once: a program that opens the log for one question should not wait for this when it closes.
        if !unpacked.isEmpty { queueRepack(after: 1) }
    }

    /// The number that the next record gets.
    public var nextSequence: UInt64 { withTail { $0.nextSequence } }

    /// The last record that survives a loss of power; 0 when there is none. What a reader sees beyond it can still be
    /// lost.
    public var durableSequence: UInt64 { withTail { $0.progress.durable } }

    /// The closure must not call the log.
    func withTail<Value, Failure: Error>(
        _ body: (LogTail) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        monitor.lock()
        defer { monitor.unlock() }
        return try body(tail)
    }

    // MARK: Appending

    /// Appends one commit of at least one record and returns the records' sequence numbers. When it returns, the commit
    /// is as durable as ``Options/durability`` says. Blocks the thread meanwhile.
    ///
    /// - Throws: ``LogError/writeFailed(_:)`` when the disk refuses: then this log takes nothing more, and whether the
    ///   commit is kept shows when the log is opened again. Any other error: nothing was appended.
    @discardableResult
    public func append(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        monitor.lock()
        defer { monitor.unlock() }
        let range = try place(commit)
        if options.durability == .grouped { try waitUntilDurable(range.upperBound) }
        return range
    }

    /// The same for records that no ``Commit`` holds yet; they are copied.
    @discardableResult
    public func append(_ records: [(kind: UInt8, payload: [UInt8])]) throws(LogError) -> ClosedRange<UInt64> {
        var commit = Commit()
        for record in records { try commit.add(kind: record.kind, payload: record.payload) }
        return try append(commit)
    }

    /// The same as ``append(_:)-(Commit)``, but with ``Options/Durability/grouped`` the task is suspended while the
    /// commit is synced, and no thread blocked.
    @discardableResult
    public func appendAndWait(_ commit: Commit) async throws(LogError) -> ClosedRange<UInt64> {
        let range = try placeLocked(commit)
        if options.durability == .grouped { try await waitUntilDurable(range.upperBound) }
        return range
    }

    /// Appends one commit and returns when the operating system has it: it survives the end of the process, and a loss
    /// of power once ``waitUntilDurable(_:)`` or ``sync()`` has returned. With ``Options/Durability/everyCommit`` the
    /// same as ``append(_:)-(Commit)``.
    @discardableResult
    public func write(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        monitor.lock()
        defer { monitor.unlock() }
        guard options.durability == .grouped else { return try place(commit) }
        try prepare(commit)
        // Where much is not durable, nothing tells damage from a torn tail; see `LogTail.targetUnwitnessed`.
        if tail.unwitnessedBytes > LogTail.targetUnwitnessed { try waitUntilDurable(tail.progress.encoded) }
        // What others have encoded to be written after the sync that runs must not be written before its end.
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

    /// Brings the commit as far as its durability asks, but does not wait for a sync that is shared.
    private func place(_ commit: Commit) throws(LogError) -> ClosedRange<UInt64> {
        try prepare(commit)
        switch options.durability {
        case .everyCommit:
            let range = try tail.encode(commit, isWrittenAfterSync: false)
            try tail.syncAlone()
            return range
        case .grouped:
            // Not written before somebody syncs: what is written while a sync runs would have no witness.
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

    /// Makes room for a commit.
    private func prepare(_ commit: Commit) throws(LogError) {
        try startSegment { $0.needsSegment }
    }

    /// Where a segment begins that has no records yet; begins one where the last segment has some. What was appended
    /// before is durable then.
    func beginSegment() throws(LogError) -> SegmentFile.Position {
        monitor.lock()
        defer { monitor.unlock() }
        try startSegment { !$0.isAtStart }
        return tail.segment.start
    }

    private func startSegment(while isNeeded: (LogTail) -> Bool) throws(LogError) {
        try tail.checkOpen()
        while isNeeded(tail) {
            // The log may have been closed while it was let go of.
            try tail.checkOpen()
            if tail.progress.phase == .idle {
                defer { announce() }
                if let sealed = try tail.startSegment() {
                    unpacked.append(sealed)
                    queueRepack(after: 0)
                }
            } else {
                monitor.wait(.idle)
            }
        }
        try tail.checkOpen()
    }

    // MARK: Durability

    /// Makes everything appended so far durable. Blocks the thread meanwhile.
    public func sync() throws(LogError) {
        monitor.lock()
        defer { monitor.unlock() }
        try tail.checkOpen()
        try waitUntilDurable(tail.progress.encoded)
    }

    /// Notes beside the segments how far the log goes, as ``close()`` does: a log that is found to end earlier is damaged.
    /// For moments when nothing is being appended. Does nothing if a part of the log is not durable yet.
    public func recordEnd() { withTail { $0.recordEnd() } }

    /// Returns when the record, or where the log does not reach so far the last one, survives a loss of power. The task
    /// is suspended meanwhile, also where it is cancelled: what was appended cannot be taken back.
    public func waitUntilDurable(_ sequence: UInt64) async throws(LogError) {
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
                waiting.append(Waiting(sequence: sequence, continuation: continuation))
                queueSync()
            }
            monitor.unlock()
            if let outcome { continuation.resume(returning: outcome) }
        }
        try outcome.get()
    }

    /// Holds the monitor, lets go of it while waiting, and holds it again.
    private func waitUntilDurable(_ sequence: UInt64) throws(LogError) {
        // One is woken to do the next sync. Where that turned out not to be needed, or to be hopeless, the next one who
        // waits must hear of it.
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

    /// Syncs for all whose commits are encoded when it begins. Holds the monitor but for the sync itself.
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

    /// After a sync, or instead of one.
    private func announce() {
        let round = tail.progress.round
        monitor.wakeAll(.sync(round))
        // One of the next round does its sync. When the log has failed, nobody's commit has a chance any more.
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
        // An executor is foreign code: it must not run while the log is held.
        monitor.unlock()
        for each in ready {
            let isDurable = each.sequence <= durable
            each.continuation.resume(returning: isDurable ? .success(()) : .failure(failure ?? .closed(cause: nil)))
        }
        monitor.lock()
    }

    /// For tasks that wait: at once.
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
        // A failure reaches those who wait through `announce`, and everybody else by the next call.
        if tail.failureOfWaiting == nil {
            try? waitUntilDurable(tail.progress.encoded)
        } else {
            announce()
        }
    }

    // MARK: Packing sealed segments again

    private func queueRepack(after seconds: Int) {
        guard case .repacked = options.sealing else { return }
        repackQueue.asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in self?.repackWaiting() }
    }

    /// The next segment to pack again; nil when there is none, and when the log is not open any more.
    func takeUnpacked() -> UInt64? {
        withTail { $0.state == .open ? unpacked.popLast() : nil }
    }

    // MARK: Closing

    /// Lets go of the files and the lock. With ``Options/Durability/grouped`` and ``Options/Durability/interval(milliseconds:)``
    /// what was appended is made durable first, as far as the disk lets it; with ``Options/Durability/none`` it stays
    /// with the operating system. Later calls throw ``LogError/closed(cause:)``.
    public func close() { _ = close(keepingLock: false) }

    /// Lets go of the files as ``close()`` does, and gives the lock to the caller, so that nobody else opens the log before
    /// that is released. Nil where the log was closed already.
    public func closeKeepingLock() -> (any FileLock)? { close(keepingLock: true) }

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
        // What packs a segment again notices, and ends before its next block.
        repacking.lock()
        repacking.unlock()
        fileWork.lock()
        fileWork.unlock()
        return lock
    }

    // MARK: Snapshots and compaction

    /// Until ``endFileWork()`` no other thread makes snapshots or removes files, and nobody else gets the lock, whoever
    /// closes the log meanwhile. Others can append. Returns the log's directory.
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

    /// After files were named or removed. A failure closes the log.
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
