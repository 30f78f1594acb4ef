import EDM
import ODataWire
import Operations

/// Runs uploads and downloads between a store and its service, one at a time.
///
/// It orchestrates: what to send is decided by `UploadPlanner`, what an answer means by `Reconciler`, what state follows by
/// `Fold`; the log takes every step before the next begins, so that an app may end at any point.
public actor SyncEngine {
    public nonisolated let store: LocalStore
    public nonisolated let session: ServiceSession
    /// The round that runs now: callers that come meanwhile wait for it, and two uploads never overlap.
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Ends what runs now.
    private var cancel: (@Sendable () -> Void)?
    private var runs: Work?
    /// How often uploads and downloads were cancelled: those that had to wait go by it.
    private var cancellations: [Work: Int] = [:]

    private enum Work { case upload, download }

    /// How many uploads run or wait for their turn.
    private var uploads = 0
    /// The round that calls share which came while another one ran, until it begins.
    private var following: Task<Result<UploadReport, TidelogError>, Never>?
    /// What the last upload was refused.
    private var lastRefused: Set<SequenceNumber> = []

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
    /// from there. Cancelling the task that called has the same effect.
    public func cancelUpload() { cancelAll(.upload) }

    /// Ends the download that runs, and those that wait for their turn; their callers get `cancelled`. What was read stays,
    /// nothing is removed, and the next download begins anew.
    public func cancelDownload() { cancelAll(.download) }

    private func cancelAll(_ work: Work) {
        cancellations[work, default: 0] += 1
        if runs == work { cancel?() }
    }

    /// Does the work when it is its turn, in a task that can be cancelled by itself.
    private func perform<Report: Sendable>(
        _ work: Work, _ began: SyncEvent, _ body: @escaping @Sendable () async throws(TidelogError) -> Report
    ) async throws(TidelogError) -> Report {
        let before = cancellations[work, default: 0]
        await begin()
        defer { end() }
        guard cancellations[work, default: 0] == before, !Task.isCancelled else {
            throw TidelogError(.cancelled, "It was cancelled before it began.")
        }
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
        return try result.get()
    }

    /// Logs the metadata that the store's records are to be read by from now on.
    public func install(_ metadata: [UInt8]) async throws(TidelogError) {
        try await store.record([.serviceInstalled(ServiceDescription(root: session.root, metadata: metadata))])
    }

    /// Reads the service's metadata if the store has none, as after a crash while it was made, and logs it.
    public func prepare() async throws(TidelogError) {
        if await store.hasModel { return }
        try await install(try await MetadataReading.read(session).bytes)
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
        guard options == nil, uploads > 0 else { return try await uploadAlone(options ?? standard, isFollowing: false) }
        let shared = following ?? Task { await self.follow(standard) }
        following = shared
        return try await shared.value.get()
    }

    private func follow(_ options: UploadOptions) async -> Result<UploadReport, TidelogError> {
        do throws(TidelogError) {
            return .success(try await uploadAlone(options, isFollowing: true))
        } catch {
            following = nil
            return .failure(error)
        }
    }

    private func uploadAlone(
        _ options: UploadOptions, isFollowing: Bool
    ) async throws(TidelogError) -> UploadReport {
        uploads += 1
        defer { uploads -= 1 }
        let (store, session) = (store, session)
        let pending = try await store.pendingCount()
        let report = try await perform(.upload, .uploadBegan(pending: pending)) {
            () async throws(TidelogError) -> UploadReport in
            let refused = await self.beginRound(isFollowing)
            if try await store.model.version.isLegacy { await session.expectToken() }
            let attempts = UploadAttempts(store: store, activity: session.activity, options: options)
            return try await attempts.run { refusedNow throws(TidelogError) in
                try await UploadRound(store: store, session: session, upload: options).run(
                    refused: refused.union(refusedNow))
            }
        }
        lastRefused = Set(report.rejected.map(\.operation))
        return report
    }

    /// From now on others have to wait for the round behind this one. Returns what this one is not to send again.
    private func beginRound(_ isFollowing: Bool) -> Set<SequenceNumber> {
        guard isFollowing else { return [] }
        following = nil
        return lastRefused
    }

    /// Runs the defining queries with these names, or all.
    public func download(_ names: [String]? = nil) async throws(TidelogError) -> DownloadReport {
        let (store, session) = (store, session)
        return try await perform(.download, .downloadBegan) { () async throws(TidelogError) in
            let all = try await store.definingQueries()
            if let unknown = names?.first(where: { name in !all.contains { $0.name == name } }) {
                throw TidelogError(.invalidRequest, "There is no defining query \(unknown).")
            }
            let queries = all.filter { names?.contains($0.name) ?? true }
            return try await DownloadRound(store: store, session: session).run(queries)
        }
    }

    private func begin() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Hands the turn on as it is: a caller that comes before the next one wakes must not overtake it.
    private func end() {
        if waiting.isEmpty { isBusy = false } else { waiting.removeFirst().resume() }
    }
}
