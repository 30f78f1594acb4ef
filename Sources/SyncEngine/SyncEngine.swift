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

    public init(store: LocalStore, session: ServiceSession) {
        self.store = store
        self.session = session
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
    public func upload(_ options: UploadOptions = UploadOptions()) async throws(TidelogError) -> UploadReport {
        await begin()
        defer { end() }
        if try await store.model.version.isLegacy { await session.expectToken() }
        let report = try await UploadRound(store: store, session: session, upload: options).run()
        await store.writeSnapshotIfDue()
        return report
    }

    /// Runs the defining queries with these names, or all.
    public func download(_ names: [String]? = nil) async throws(TidelogError) -> DownloadReport {
        await begin()
        defer { end() }
        let all = try await store.definingQueries()
        if let unknown = names?.first(where: { name in !all.contains { $0.name == name } }) {
            throw TidelogError(.invalidRequest, "There is no defining query \(unknown).")
        }
        let queries = all.filter { names?.contains($0.name) ?? true }
        let report = try await DownloadRound(store: store, session: session).run(queries)
        await store.writeSnapshotIfDue()
        return report
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
