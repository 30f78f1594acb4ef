public import EDM
import ODataWire
public import Operations

/// Runs uploads and downloads between a store and its service, one at a time.
///
/// It orchestrates: what to send is decided by `UploadPlanner`, what an answer means by `Reconciler`, what state follows by
/// `Fold`; the log takes every step before the next begins, so that an app may end at any point.
public actor SyncEngine {
    public nonisolated let store: LocalStore
    public nonisolated let session: ServiceSession
    /// The round that runs now: callers that come meanwhile wait for it, and two uploads never overlap.
    private var isBusy = false
    private(set) var waiting: [Waiter] = []
    private var lastWaiter = 0
    /// Ends what runs now.
    private var cancel: (@Sendable () -> Void)?
    private var runs: Work?
    /// How often uploads and downloads were cancelled: those that had to wait go by it.
    private var cancellations: [Work: Int] = [:]

    enum Work { case upload, download, refresh, queries }

    struct Waiter {
        let number: Int
        let work: Work
        /// True when its turn has come, false where it was cancelled before.
        let turn: CheckedContinuation<Bool, Never>
    }

    /// How many uploads run or wait for their turn.
    private(set) var uploads = 0
    /// The rounds that calls share, until they end, by number.
    private(set) var shared: [Int: SharedRound] = [:]
    private var lastShared = 0
    /// The one for calls that come while another round runs, until it begins.
    private var following: Int?
    /// What the last upload was refused.
    private var lastRefused: Set<SequenceNumber> = []
    /// The last record when that upload began.
    private var lastBegan: SequenceNumber = 0

    struct SharedRound {
        let task: Task<Result<UploadReport, TidelogError>, Never>
        /// How many calls wait for it.
        var callers = 0
    }

    public init(store: LocalStore, session: ServiceSession) {
        self.store = store
        self.session = session
        let activity = session.activity
        store.onRecord { activity.tell(.recorded($0, $1)) }
    }

    // MARK: Looking on

    /// How far the uploads and downloads are, from now on. A reader that is slow misses some of it, never the last.
    public nonisolated func progress() -> AsyncStream<SyncProgress> { session.activity.progress() }

    /// Calls the observer with everything that happens from now on, in order.
    ///
    /// - Parameter observer: must neither wait nor call the engine.
    /// - Returns: ends it.
    @discardableResult
    public nonisolated func observe(_ observer: @escaping @Sendable (SyncEvent) -> Void) -> @Sendable () -> Void {
        let activity = session.activity
        let number = activity.add(observer)
        return { activity.remove(number) }
    }

    // MARK: Cancelling

    /// Ends the upload that runs, and those that wait for their turn; their callers get `cancelled`.
    ///
    /// Nothing is lost: what was not sent is pending, what was on its way is in doubt at worst, and the next upload goes on
    /// from there. Cancelling the task that called ends its own call; a round that calls share ends with the last of them.
    public func cancelUpload() { cancelAll(.upload) }

    /// Ends the download that runs, and those that wait for their turn; their callers get `cancelled`. What was read stays,
    /// and the next download goes on behind the last page that came whole.
    public func cancelDownload() { cancelAll(.download) }

    private func cancelAll(_ work: Work) {
        cancellations[work, default: 0] += 1
        if runs == work { cancel?() }
        dismiss { $0.work == work }
        // Calls that come from now on are not cancelled, so they share another round.
        if work == .upload { following = nil }
    }

    /// Whether it was cancelled since its call.
    private func isCancelled(_ work: Work, since before: Int) -> Bool {
        Task.isCancelled || cancellations[work, default: 0] != before
    }

    /// Does the work when it is its turn, in a task that can be cancelled by itself.
    ///
    /// - Parameter before: how often such work had been cancelled when it was called for.
    private func perform<Report: Sendable>(
        _ work: Work, since before: Int, _ began: SyncEvent,
        _ body: @escaping @Sendable () async throws(TidelogError) -> Report
    ) async throws(TidelogError) -> Report {
        guard !isCancelled(work, since: before), await begin(work) else { throw Self.early }
        defer { end() }
        guard !isCancelled(work, since: before) else { throw Self.early }
        session.activity.tell(began)
        let task = Task { () async -> Result<Report, TidelogError> in
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
        case .success: session.activity.tell(.ended(nil))
        case .failure(let error): session.activity.tell(.ended(error))
        }
        await store.writeSnapshotIfDue()
        await store.noteEnd()
        return try result.get()
    }

    /// Logs the metadata that the store's records are to be read by from now on.
    public func install(_ metadata: [UInt8]) async throws(TidelogError) {
        try await store.record([.serviceInstalled(ServiceDescription(root: session.root, metadata: metadata))])
    }

    /// Reads the service's metadata if the store has none, and logs it.
    public func prepare() async throws(TidelogError) {
        if await store.hasModel { return }
        try await install(try await MetadataReading.read(session).bytes)
    }

    /// Reads the service's metadata and takes them over where that is compatible or approved; see
    /// ``LocalStore/refresh(_:policy:classes:)``. Not while an upload or download runs: it waits for its turn.
    public func refreshMetadata(
        _ policy: CompatibilityPolicy, classes: EntityDataModel? = nil
    ) async throws(TidelogError) -> MetadataRefresh {
        guard await begin(.refresh) else { throw Self.early }
        defer { end() }
        let before = session.root
        do throws(TidelogError) {
            let metadata = try await MetadataReading.read(session).bytes
            return try await store.refresh(metadata, policy: policy, classes: classes, root: session.root)
        } catch {
            session.move(to: before)
            throw error
        }
    }

    /// Adds a defining query, or replaces that of the same name; see ``LocalStore/add(_:)``. Not while an upload or download
    /// runs: it waits for its turn.
    public func add(_ query: DefiningQuery) async throws(TidelogError) {
        guard await begin(.queries) else { throw Self.early }
        defer { end() }
        try await store.add(query)
    }

    /// Removes a defining query with the entities that no other query brings; see ``LocalStore/removeDefiningQuery(_:)``. Not
    /// while an upload or download runs: it waits for its turn.
    public func removeDefiningQuery(_ name: String) async throws(TidelogError) {
        guard await begin(.queries) else { throw Self.early }
        defer { end() }
        try await store.removeDefiningQuery(name)
    }

    private static var early: TidelogError { TidelogError(.cancelled, "It was cancelled before it began.") }

    /// What ``refreshMetadata(_:)`` would do now. Changes nothing.
    public func rehearseMetadataRefresh(
        _ policy: CompatibilityPolicy, classes: EntityDataModel? = nil
    ) async throws(TidelogError) -> MetadataRefresh {
        let before = session.root
        defer { session.move(to: before) }
        let metadata = try await MetadataReading.read(session).bytes
        return try await store.rehearseRefresh(metadata, policy: policy, classes: classes)
    }

    /// Sends what is pending, in as many batches as it takes. What the service refuses is in the report and is no error.
    ///
    /// Where the service is busy it waits and goes on, as the options say. Calls that come while one runs share the next
    /// round, which sends what was made meanwhile and does not try again what was refused just now.
    ///
    /// - Parameters:
    ///   - options: nil for the standard ones. A call with options of its own gets a round of its own.
    ///   - standard: those that calls without options share.
    public func upload(
        _ options: UploadOptions? = nil, otherwise standard: UploadOptions = UploadOptions()
    ) async throws(TidelogError) -> UploadReport {
        let before = cancellations[.upload, default: 0]
        guard options == nil, uploads > 0 else { return try await uploadAlone(options ?? standard, since: before) }
        return try await join(following ?? share(standard, since: before))
    }

    /// A new round that calls share. Returns its number.
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

    /// Waits for a shared round as long as the calling task is not cancelled. The round goes on for the other calls.
    private func join(_ number: Int) async throws(TidelogError) -> UploadReport {
        guard let task = shared[number]?.task else { preconditionFailure("Nobody joins a round that has ended.") }
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
            .cancelled, "The upload was cancelled.", recovery: "Nothing is lost; the next upload goes on from here.")
    }

    /// - Parameter number: of the round, where calls share it.
    private func uploadAlone(
        _ options: UploadOptions, since before: Int, sharing number: Int? = nil
    ) async throws(TidelogError) -> UploadReport {
        uploads += 1
        defer { uploads -= 1 }
        let (store, session) = (store, session)
        let pending = try await store.queueCounts().queued
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
                await self.note(report)
                return report
            } catch {
                await self.note(error.upload)
                throw error
            }
        }
    }

    /// From now on others have to wait for the round behind this one. Returns what this one is not to send again: what was
    /// refused just now, and not mended since.
    private func beginRound(sharing number: Int?) async throws(TidelogError) -> Set<SequenceNumber> {
        if let number, following == number { following = nil }
        let refused =
            number == nil ? [] : try await store.operations(lastRefused, untouchedSince: lastBegan)
        lastBegan = try await store.lastRecord
        return refused
    }

    /// Keeps what the round was refused, however it ended.
    private func note(_ report: UploadReport?) { lastRefused = Set(report?.rejected.map(\.operation) ?? []) }

    /// Runs the defining queries with these names, or all but shared ones that are fresh yet. Where the service is busy it
    /// waits and goes on, as the options say.
    public func download(
        _ names: [String]? = nil, _ options: DownloadOptions = DownloadOptions()
    ) async throws(TidelogError) -> DownloadReport {
        let (store, session) = (store, session)
        return try await perform(.download, since: cancellations[.download, default: 0], .downloadBegan) {
            () async throws(TidelogError) in
            let all = try await store.definingQueries()
            if let unknown = names?.first(where: { name in !all.contains { $0.name == name } }) {
                throw TidelogError(.invalidRequest, "There is no defining query \(unknown).")
            }
            let queries = all.filter { names?.contains($0.name) ?? true }
            let unusable = try await store.unusableQueries().filter { unusable in
                queries.contains { $0.name == unusable.name }
            }
            if names != nil, let unusable = unusable.first { throw unusable.error }
            let fresh = names == nil ? try await store.freshQueries() : []
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

    /// Waits for the turn. Returns false where it was cancelled before that came.
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

    /// Those of the waiting that are chosen wait no longer.
    private func dismiss(_ isChosen: @Sendable (Waiter) -> Bool) {
        let gone = waiting.filter(isChosen)
        waiting.removeAll(where: isChosen)
        for waiter in gone { waiter.turn.resume(returning: false) }
    }

    /// Hands the turn on as it is: a caller that comes before the next one wakes must not overtake it.
    private func end() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().turn.resume(returning: true) }
    }
}
