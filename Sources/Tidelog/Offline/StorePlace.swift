import OfflineStore
import OperationLog
import Synchronization

/// The place of a store: a directory, or the memory of the process.
final class StorePlace: Sendable {
    private let parameters: OfflineODataParameters
    private let memory: Memory?

    /// The files of a store in memory, and its description.
    private final class Memory: Sendable {
        struct StoredFiles {
            var files = MemoryFileSystem()
            var description: StoreDescription?
        }

        private let content = Mutex(StoredFiles())

        var files: MemoryFileSystem { content.withLock { $0.files } }

        var description: StoreDescription? {
            get { content.withLock { $0.description } }
            set { content.withLock { $0.description = newValue } }
        }

        func reset() { content.withLock { $0 = StoredFiles() } }
    }

    init(_ parameters: OfflineODataParameters) {
        self.parameters = parameters
        memory = parameters.isInMemory ? Memory() : nil
    }

    var files: StoreFiles { StoreFiles(directory: parameters.storePath) }

    /// Returns the description of the store, or nil if there is no store.
    func description() throws(TidelogError) -> StoreDescription? {
        if let memory { return memory.description }
        return try StoreDescription.read(files, keys: parameters.keys)
    }

    /// Returns the description of the store, which is created from a prepared store if there is one.
    func preparedDescription() throws(TidelogError) -> StoreDescription? {
        if let known = try description() { return known }
        guard let prepared = parameters.preparedStore else { return nil }
        guard memory == nil else {
            throw TidelogError(
                .unsupported, "A store in memory cannot be created from a prepared store.", place: prepared)
        }
        try PreparedStore.install(prepared, at: parameters.storePath, keys: parameters.keys)
        return try description()
    }

    /// Returns the service root of the store: the given one, which has to be the one of an existing store.
    func serviceRoot(_ given: String?, _ description: StoreDescription?) throws(TidelogError) -> String {
        guard let root = given ?? description?.serviceRoot else {
            throw TidelogError(
                .noStore, "The store does not exist.", place: parameters.storePath,
                recovery: "Pass the service root to create it ('tidelog init').")
        }
        if let known = description?.serviceRoot, known != root {
            throw TidelogError(
                .invalidRequest, "The store belongs to the service \(known), not to \(URLText.withoutSecrets(root)).",
                place: parameters.storePath,
                recovery: "Use another directory for another service.")
        }
        return root
    }

    /// Returns the error for a log of another service.
    func belongs(to logged: String, insteadOf root: String) -> TidelogError {
        TidelogError(
            .invalidRequest, "The log belongs to the service \(logged), not to \(URLText.withoutSecrets(root)).",
            place: parameters.storePath)
    }

    /// The error for a log without metadata although a description exists.
    ///
    /// Descriptions are written last, so either the record was lost or the description belongs to another log. The
    /// metadata is read from the service only if the caller names the service root.
    var withoutMetadata: TidelogError {
        TidelogError(
            .damaged, "The log of the store contains no metadata of its service, although the store was created.",
            place: parameters.storePath,
            recovery:
                "Run 'tidelog verify' to check the log, and 'tidelog pull' to read the metadata again; an app "
                + "opens the store with the service root.")
    }

    func write(_ description: StoreDescription) throws(TidelogError) {
        if let memory { return memory.description = description }
        try description.write(files, keys: parameters.keys)
    }

    func options(_ kept: ServiceOptions?) -> LocalStoreOptions {
        var options = parameters.storeOptions(kept)
        if let memory { options.disk = .simulated(memory.files) }
        return options
    }

    /// Deletes the store, and closes it if it is open.
    func clear(_ store: LocalStore?, force: Bool) async throws(TidelogError) {
        guard let memory else {
            let removal = StoreRemoval(files)
            guard let store else { return try await removal.run(force: force, options: options(nil)) }
            return try await removal.run(store, force: force)
        }
        guard try description() != nil else {
            throw TidelogError(
                .noStore, "There is no store in memory, and nothing was deleted.", place: files.directory)
        }
        if !force { try await refusePending(store) }
        await store?.close()
        memory.reset()
    }

    private func refusePending(_ open: LocalStore?) async throws(TidelogError) {
        let store: LocalStore
        if let open {
            store = open
        } else {
            store = try await LocalStore(files, creating: false, options: options(nil))
        }
        let pending = try? await store.queue.pendingCount()
        if open == nil { await store.close() }
        guard pending == 0 else {
            throw TidelogError(
                .refused(.notAllowed),
                "The store has \(pending.map { "\($0) operations" } ?? "operations") that the service has not confirmed.",
                place: files.directory, recovery: "Upload or undo them first, or force the deletion.")
        }
    }

    /// Returns the store as of an earlier point of its history.
    func past(at point: PointInTime) async throws(TidelogError) -> HistoricalODataProvider {
        guard memory != nil else { return try await HistoricalODataProvider(parameters: parameters, at: point) }
        let past = try await HistoricalStore(files, at: point, options: options(try description()?.service))
        return try await HistoricalODataProvider(past, parameters: parameters)
    }
}

extension OfflineODataParameters {
    /// The path of a store in memory, which leaves no file: ``OfflineODataParameters/storePath`` is this text, or begins
    /// with it.
    ///
    /// The store exists as long as its provider, also while it is closed. It keeps no media streams, and no other
    /// process can inspect it. Use it for tests, previews and data that must not reach the disk.
    public static let inMemory = "memory:"

    /// A Boolean value that indicates whether the store is in memory.
    public var isInMemory: Bool { storePath.hasPrefix(Self.inMemory) }
}
