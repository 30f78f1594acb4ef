package import EDM
package import OfflineStore
package import Operations

/// An engine that runs uploads and downloads between a store and its service, one at a time.
///
/// It orchestrates: `UploadPlanner` decides what to send, `Reconciler` interprets responses, and `Fold` derives the
/// state. Each step is logged before the next one begins, so the app may be terminated at any point.
package actor SyncEngine {
    package nonisolated let store: LocalStore
    package nonisolated let session: ServiceSession
    /// Whether a round is running. Later callers wait for it, and two uploads never overlap.
    private var isBusy = false
    private(set) var waiting: [Waiter] = []
    private var lastWaiter = 0
    /// Cancels the running work.
    private var cancel: (@Sendable () -> Void)?
    private var runs: Work?
    /// The number of cancellations of each kind of work. Waiting callers compare it with the number at their call.
    private var cancellations: [Work: Int] = [:]

    enum Work { case upload, download, refresh, queries }

    struct Waiter {
        let number: Int
        let work: Work
        /// Resumed with true when it is the caller's turn, or with false if the work was cancelled before.
        let turn: CheckedContinuation<Bool, Never>
    }

    /// The number of uploads that run or wait.
    private(set) var uploads = 0
    /// The shared rounds that have not ended, by number.
    private(set) var shared: [Int: SharedRound] = [:]
    private var lastShared = 0
    /// The number of the shared round that later calls join, until it begins.
    private var following: Int?
    /// The operations that the last upload saw rejected.
    private var lastRefused: Set<SequenceNumber> = []
    /// The last record at the start of that upload.
    private var lastBegan: SequenceNumber = 0

    struct SharedRound {
        let task: Task<Result<UploadReport, TidelogError>, Never>
        /// The number of calls that wait for the round.
        var callers = 0
    }

    package init(store: LocalStore, session: ServiceSession) {
        self.store = store
        self.session = session
        let activity = session.activity
        store.onRecords { activity.notify($0, from: $1) }
    }

    // MARK: Looking on

    /// Returns the progress of uploads and downloads from now on. A slow reader misses some updates, but never the
    /// last.
    package nonisolated func progress() -> AsyncStream<SyncProgress> { session.activity.progress() }

    /// Calls the observer with every event from now on, in order.
    ///
    /// - Parameter observer: A function that must neither block nor call the engine.
    /// - Returns: A function that ends the observation.
    @discardableResult
    package nonisolated func observe(_ observer: @escaping @Sendable (SyncEvent) -> Void) -> @Sendable () -> Void {
        let activity = session.activity
        let number = activity.add(observer)
        return { activity.remove(number) }
    }

    // MARK: Cancelling

    /// Cancels the running upload and all waiting ones. Their callers receive `cancelled`.
    ///
    /// Nothing is lost: unsent operations stay pending, operations in flight become in doubt at worst, and the next
    /// upload continues. Cancelling the calling task ends only its own call; a shared round is cancelled with its last
    /// caller.
    package func cancelUpload() { cancelAll(.upload) }

    /// Cancels the running download and all waiting ones. Their callers receive `cancelled`.
    ///
    /// Downloaded pages stay in the store, and the next download continues after the last complete page.
    package func cancelDownload() { cancelAll(.download) }

    private func cancelAll(_ work: Work) {
        cancellations[work, default: 0] += 1
        if runs == work { cancel?() }
        dismiss { $0.work == work }
        // Later calls are not cancelled, so they share a new round.
        if work == .upload { following = nil }
    }

    /// Returns whether the work was cancelled since its call.
    private func isCancelled(_ work: Work, since before: Int) -> Bool {
        Task.isCancelled || cancellations[work, default: 0] != before
    }

    /// Runs the work when it is its turn, in a task of its own that can be cancelled.
    ///
    /// - Parameter before: The number of cancellations of this kind of work at the time of the call.
    private func perform<Report: Sendable>(
        _ work: Work, since before: Int, _ began: SyncEvent,
        _ body: @escaping @Sendable () async throws(TidelogError) -> Report
    ) async throws(TidelogError) -> Report {
        guard !isCancelled(work, since: before), await begin(work) else { throw Self.early }
        defer { end() }
        guard !isCancelled(work, since: before) else { throw Self.early }
        session.activity.notify(began)
        let task = Task(executorPreference: store.environment.executor) { () async -> Result<Report, TidelogError> in
            do throws(TidelogError) { return .success(try await body()) } catch { return .failure(error) }
        }
        (runs, cancel) = (work, { task.cancel() })
        defer { (runs, cancel) = (nil, nil) }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        switch result {
        case .success: session.activity.notify(.ended(nil))
        case .failure(let error): session.activity.notify(.ended(error))
        }
        await store.writeSnapshotIfDue()
        await store.recordEnd()
        return try result.get()
    }

    /// Logs the metadata by which the store's records are read from now on.
    package func install(_ metadata: [UInt8]) async throws(TidelogError) {
        try await store.record([.serviceInstalled(ServiceDescription(root: session.root, metadata: metadata))])
    }

    /// Reads and logs the service's metadata if the store has none.
    package func prepare() async throws(TidelogError) {
        if await store.hasModel { return }
        try await install(try await MetadataReading.read(session, models: store.environment.models).bytes)
    }

    /// Reads the service's metadata and installs them if they are compatible or approved; see
    /// ``StoreMetadata/refresh(_:policy:classes:root:)``. Waits until no upload or download runs.
    package func refreshMetadata(
        _ policy: CompatibilityPolicy, classes: EntityDataModel? = nil
    ) async throws(TidelogError) -> MetadataRefresh {
        guard await begin(.refresh) else { throw Self.early }
        defer { end() }
        let before = session.root
        do throws(TidelogError) {
            let metadata = try await MetadataReading.read(session, models: store.environment.models).bytes
            return try await store.metadata.refresh(metadata, policy: policy, classes: classes, root: session.root)
        } catch {
            session.move(to: before)
            throw error
        }
    }

    /// Adds a defining query, or replaces the one with the same name; see ``StoreDefiningQueries/add(_:)``. Waits until
    /// no upload or download runs.
    package func add(_ query: DefiningQuery) async throws(TidelogError) {
        guard await begin(.queries) else { throw Self.early }
        defer { end() }
        try await store.definingQueries.add(query)
    }

    /// Removes a defining query and the entities that no other query contains; see
    /// ``StoreDefiningQueries/remove(_:)``. Waits until no upload or download runs.
    package func removeDefiningQuery(_ name: String) async throws(TidelogError) {
        guard await begin(.queries) else { throw Self.early }
        defer { end() }
        try await store.definingQueries.remove(name)
    }

    private static var early: TidelogError { TidelogError(.cancelled, "It was cancelled before it started.") }

    /// Returns the result that ``refreshMetadata(_:)`` would have now, without changing anything.
    package func rehearseMetadataRefresh(
        _ policy: CompatibilityPolicy, classes: EntityDataModel? = nil
    ) async throws(TidelogError) -> MetadataRefresh {
        let before = session.root
        defer { session.move(to: before) }
        let metadata = try await MetadataReading.read(session, models: store.environment.models).bytes
        return try await store.metadata.rehearseRefresh(metadata, policy: policy, classes: classes)
    }

    /// Sends the pending operations, in as many batches as necessary.
    ///
    /// Operations that the service rejects are in the report and are no error. If the service is busy, the upload
    /// retries according to the options. Calls during an upload share the next round, which sends the changes made
    /// meanwhile and does not repeat operations that were just rejected.
    ///
    /// - Parameters:
    ///   - options: Options for this call, which then has a round of its own; nil for the standard ones.
    ///   - standard: The options that calls without options share.
    /// - Returns: The report of the upload.
    package func upload(
        _ options: UploadOptions? = nil, otherwise standard: UploadOptions = UploadOptions()
    ) async throws(TidelogError) -> UploadReport {
        let before = cancellations[.upload, default: 0]
        guard options == nil, uploads > 0 else { return try await uploadAlone(options ?? standard, since: before) }
        return try await join(following ?? share(standard, since: before))
    }

    /// Creates a new shared round. Returns its number.
    private func share(_ options: UploadOptions, since before: Int) -> Int {
        lastShared += 1
        let number = lastShared
        shared[number] = SharedRound(task: Task { await self.follow(number, options, since: before) })
        following = number
        return number
    }

    private func follow(
        _ number: Int, _ options: UploadOptions, since before: Int
    ) async -> Result<UploadReport, TidelogError> {
        defer { leave(number) }
        do throws(TidelogError) {
            return .success(try await uploadAlone(options, since: before, sharing: number))
        } catch {
            return .failure(error)
        }
    }

    private func leave(_ number: Int) {
        if following == number { following = nil }
        shared[number] = nil
    }

    /// Waits for a shared round until the calling task is cancelled. The round continues for the other callers.
    private func join(_ number: Int) async throws(TidelogError) -> UploadReport {
        guard let task = shared[number]?.task else { preconditionFailure("A round that has ended cannot be joined.") }
        shared[number]?.callers += 1
        let (results, result) = AsyncStream.makeStream(of: Result<UploadReport, TidelogError>.self)
        Task {
            result.yield(await task.value)
            result.finish()
        }
        var iterator = results.makeAsyncIterator()
        if let ended = await iterator.next(isolation: self) { return try ended.get() }
        shared[number]?.callers -= 1
        if shared[number]?.callers == 0 {
            task.cancel()
            leave(number)
        }
        throw TidelogError(
            .cancelled, "The upload was cancelled.", recovery: "Start the upload again; no data is lost.")
    }

    /// Runs one upload.
    ///
    /// - Parameter number: The number of the round if calls share it.
    private func uploadAlone(
        _ options: UploadOptions, since before: Int, sharing number: Int? = nil
    ) async throws(TidelogError) -> UploadReport {
        uploads += 1
        defer { uploads -= 1 }
        let (store, session) = (store, session)
        let pending = try await store.queue.queueCounts().queued
        return try await perform(.upload, since: before, .uploadBegan(pending: pending)) {
            () async throws(TidelogError) -> UploadReport in
            let refused = try await self.beginRound(sharing: number)
            if try await store.model.version.isLegacy { await session.expectToken() }
            let attempts = UploadAttempts(store: store, activity: session.activity, options: options)
            do throws(TidelogError) {
                let report = try await attempts.run { refusedNow throws(TidelogError) in
                    try await UploadRound(store: store, session: session, upload: options).run(
                        refused: refused.union(refusedNow))
                }
                await self.rememberRejections(report)
                return report
            } catch {
                await self.rememberRejections(error.upload)
                throw error
            }
        }
    }

    /// Marks the round as begun, so that later calls wait for the next one. Returns the operations that it does not
    /// send again: those just rejected and not amended since.
    private func beginRound(sharing number: Int?) async throws(TidelogError) -> Set<SequenceNumber> {
        if let number, following == number { following = nil }
        let refused =
            number == nil ? [] : try await store.uploads.operations(lastRefused, untouchedSince: lastBegan)
        lastBegan = try await store.uploads.lastRecord
        return refused
    }

    /// Stores the operations that the round saw rejected, however it ended.
    private func rememberRejections(_ report: UploadReport?) {
        lastRefused = Set(report?.rejected.map(\.operation) ?? [])
    }

    /// Downloads the defining queries with these names, or all except shared ones that are still fresh. If the service
    /// is busy, the download retries according to the options.
    package func download(
        _ names: [String]? = nil, _ options: DownloadOptions = DownloadOptions()
    ) async throws(TidelogError) -> DownloadReport {
        let (store, session) = (store, session)
        return try await perform(.download, since: cancellations[.download, default: 0], .downloadBegan) {
            () async throws(TidelogError) in
            let all = try await store.definingQueries.all()
            if let unknown = names?.first(where: { name in !all.contains { $0.name == name } }) {
                throw TidelogError(.invalidRequest, "There is no defining query \(unknown).")
            }
            let queries = all.filter { names?.contains($0.name) ?? true }
            let unusable = try await store.metadata.unusableQueries().filter { unusable in
                queries.contains { $0.name == unusable.name }
            }
            if names != nil, let unusable = unusable.first { throw unusable.error }
            let fresh = names == nil ? try await store.definingQueries.freshQueries() : []
            let passed = Set(unusable.map(\.name) + fresh)
            let usable = queries.filter { !passed.contains($0.name) }
            var report = try await DownloadRound(store: store, session: session, options: options).run(usable)
            report.unusable = unusable
            report.fresh = fresh
            let read = usable.filter { query in !report.failures.contains { $0.name == query.name } }
            try await StreamRound(store: store, session: session).run(read, &report)
            if let failure = report.failures.first { throw failure.error.after(report) }
            return report
        }
    }

    /// Waits for the caller's turn. Returns false if the work was cancelled before.
    private func begin(_ work: Work) async -> Bool {
        guard isBusy else {
            isBusy = true
            return true
        }
        lastWaiter += 1
        let number = lastWaiter
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append(Waiter(number: number, work: work, turn: $0)) }
        } onCancel: {
            Task { await self.dismiss { $0.number == number } }
        }
    }

    /// Ends the wait of the chosen callers without giving them a turn.
    private func dismiss(_ isChosen: @Sendable (Waiter) -> Bool) {
        let gone = waiting.filter(isChosen)
        waiting.removeAll(where: isChosen)
        for waiter in gone { waiter.turn.resume(returning: false) }
    }

    /// Passes the turn to the next waiting caller without releasing it, so that a new caller cannot overtake it.
    private func end() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().turn.resume(returning: true) }
    }
}
