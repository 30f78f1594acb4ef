import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// Transactions of the state and the log.
extension StoreCore {
    // MARK: Recording

    /// The sequence number of the next record of the running transaction.
    var nextSequence: SequenceNumber { uncommitted.nextSequence }

    /// Appends facts to the log and folds them. Returns their sequence numbers when they are durable.
    ///
    /// Like the other asynchronous functions of this type, it runs on the executor of its caller (the package enables
    /// `NonisolatedNonsendingByDefault`), which must be a part of the store.
    @discardableResult
    func record(_ bodies: [Record.Body]) async throws(TidelogError) -> ClosedRange<SequenceNumber> {
        let range = try transaction { () throws -> ClosedRange<SequenceNumber> in
            for body in bodies {
                try self.add(body)
                if case .serviceInstalled = body { self.planEpoch += 1 }
            }
            return try self.commit()
        }
        if bodies.contains(where: StoreIndexes.areAffected) { try StoreIndexes(core: self).arrange() }
        try await acknowledge()
        return range
    }

    @discardableResult
    func add(_ body: consuming Record.Body) throws -> SequenceNumber {
        try add(Record(time: environment.now(), body: body))
    }

    /// Adds a record with its original time, for records from elsewhere.
    @discardableResult
    func add(_ record: consuming Record) throws -> SequenceNumber {
        let sequence = nextSequence
        // Encoded before it is folded, because the queue keeps the encoded form of an operation.
        let payload = try uncommitted.encode(record)
        let encoded: ArraySlice<UInt8>? =
            if case .operation = record.body { RecordCodec.operation(in: payload) } else { nil }
        try fold.apply(record, sequence: sequence, encoded: encoded)
        uncommitted.add(record)
        return sequence
    }

    /// Appends the records to the log. Between this and the end of the transaction, only the disk may fail.
    func commit() throws -> ClosedRange<SequenceNumber> {
        try fold.finishRebase()
        try state.checkDeferral()
        let range = try log.write(uncommitted.commit)
        tap.notify(uncommitted.records, from: range.lowerBound)
        return range
    }

    /// Waits until the logged records are durable according to the options. It is outside the transaction, so that
    /// concurrent calls share one sync.
    func acknowledge() async throws(TidelogError) {
        if log.options.durability == .grouped { try await makeDurable() }
    }

    /// Waits until the logged records survive a power loss, whatever the options are.
    func makeDurable() async throws(TidelogError) {
        do throws(LogError) {
            if log.options.durability == .grouped {
                try await log.waitUntilDurable(log.nextSequence - 1)
            } else {
                try log.sync()
            }
        } catch {
            throw TidelogError(error)
        }
    }

    func finishRebase() throws(StateError) { try fold.finishRebase() }

    /// Returns and clears the dirty set of the fold; see ``CardinalityRule``.
    func drainDirtySet() -> DirtySet { fold.drainDirtySet() }

    // MARK: Transactions

    /// When the stored views commit the changes of a transaction.
    enum ViewsCommit {
        /// With the transaction.
        case immediate
        /// With a later transaction, or before the views are read; see ``WorkingSet/deferredTransaction(_:)``.
        case deferred
        /// With a later page of the same download.
        case shared
        /// With the transaction, after the deferred pages.
        case lastShared
    }

    /// Runs `body` in one transaction of the state and the log: all of its changes are kept, or none.
    ///
    /// `body` may run twice, but never after it has written to the log.
    func transaction<T>(_ views: ViewsCommit = .immediate, _ body: () throws -> T) throws(TidelogError) -> T {
        assert(executor.isCurrent)
        let first = log.nextSequence
        uncommitted.begin(at: first)
        defer { uncommitted.removeAll() }
        do {
            if views != .shared { try commitPages() }
            try catchUpAfterFailure(next: first)
            // Only after catching up, whose result is kept whatever the body does.
            let before = uncommittedPages.fold ?? fold
            var result: T?
            do {
                // A function, because the captures of a closure in a constant are allocated.
                func remembering() throws -> T {
                    let value = try body()
                    result = value
                    return value
                }
                let value: T
                switch views {
                case .immediate: value = try state.transaction(remembering)
                case .deferred: value = try state.deferredTransaction(remembering)
                case .shared, .lastShared:
                    value = try state.inSharedTransaction(remembering)
                    uncommittedPages.add(uncommitted.records, onto: before)
                    if uncommittedPages.isEnough || views == .lastShared { try commitPages() }
                }
                afterTransaction()
                return value
            } catch is DeferralRefused where log.nextSequence == first {
                fold = before
                return try transaction(.immediate, body)
            } catch {
                fold = before
                uncommittedPages = UncommittedPages()
                // The log contains it, so it has taken effect, and an error would make the app repeat it. The views
                // catch up.
                if let result, log.nextSequence > first {
                    observers.notify(.unknown)
                    return result
                }
                throw error
            }
        } catch {
            do {
                // Nothing was logged, so it can be repeated.
                guard log.nextSequence == first, try remakeViews(after: error) else { throw error }
            } catch {
                throw mapped(error)
            }
            return try transaction(views, body)
        }
    }

    /// Commits the collected download pages in the views.
    func commitPages() throws(StateError) {
        let pages = uncommittedPages
        uncommittedPages = UncommittedPages()
        do throws(StateError) {
            try state.commitSharedTransaction()
        } catch {
            // The views have rolled the pages back, and receive them again from the log.
            if let fold = pages.fold { self.fold = fold }
            throw error
        }
    }

    /// Publishes new metadata, flushes if many items are unflushed, and notifies the observers.
    private func afterTransaction() {
        publishModel()
        if state.unflushedCount >= options.unflushedLimit {
            // If the flush fails, the next call folds the records again from the log.
            guard (try? state.flush()) != nil else { return observers.notify(.unknown) }
        }
        notifyObservers()
    }

    /// Notifies the observers of the transaction that has just succeeded.
    private func notifyObservers() {
        guard !observers.isEmpty else {
            storedViews.tracksPendingStates = false
            return
        }
        // If the views cannot determine the tables, any of them may have changed.
        let tables = try? views.drainChangedTables()
        guard !uncommitted.records.isEmpty else { return }
        observers.notify(tables.map { StoreChange(uncommitted.records, tables: $0) } ?? .unknown)
    }

    /// Runs `body` in a transaction that is rolled back, for a dry run.
    func dryRun<T>(_ body: () throws -> T) throws(TidelogError) -> T {
        assert(executor.isCurrent)
        let first = log.nextSequence
        uncommitted.begin(at: first)
        defer { uncommitted.removeAll() }
        do {
            try commitPages()
            try catchUpAfterFailure(next: first)
            let before = fold
            defer { fold = before }
            var result: Result<T, any Error>?
            do {
                return try state.transaction { () throws -> T in
                    result = Result { try body() }
                    throw RollbackSignal()
                }
            } catch let end as RollbackSignal {
                guard let result else { throw end }
                return try result.get()
            }
        } catch {
            throw mapped(error)
        }
    }
}

/// Rolls a transaction back.
private struct RollbackSignal: Error {}
