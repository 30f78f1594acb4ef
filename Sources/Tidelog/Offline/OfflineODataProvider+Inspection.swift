public import OfflineStore
public import SyncCore

/// The content of the queue, the planned requests, and the state of the store as of now or an earlier point.
extension OfflineODataProvider {
    func reading() throws(TidelogError) -> StoreReader {
        let engine = try engine()
        return StoreReader(store: engine.store, root: engine.session.root, parameters: parameters)
    }

    /// Returns the status of every unfinished operation, in order: its action, its state, and the reason.
    ///
    /// - Parameter options: the options of the next upload; `nil` for those of the parameters.
    /// - Throws: `noStore` if the store is not open.
    public func operationStatus(_ options: UploadOptions? = nil) async throws(TidelogError) -> [OperationStatus] {
        try await reading().operationStatus(options)
    }

    /// Returns every operation that was undone and not redone, in the order in which they were made.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func undoneOperations() async throws(TidelogError) -> [OperationStatus] {
        try await reading().undoneOperations()
    }

    /// Returns the first request that the next upload would send, byte for byte, or `nil` if there is nothing to
    /// send.
    ///
    /// - Parameter options: the options of that upload; `nil` for those of the parameters.
    /// - Throws: `noStore` if the store is not open; `invalidRequest` if the batch cannot be written.
    public func plannedBatch(_ options: UploadOptions? = nil) async throws(TidelogError) -> PlannedBatch? {
        try await plannedBatches(options).first
    }

    /// Returns the requests that the next upload would send before it plans again, byte for byte.
    ///
    /// This is one request or, for a service without `$batch`, all requests that need not wait for a previous response.
    ///
    /// - Parameter options: the options of that upload; `nil` for those of the parameters.
    /// - Throws: `noStore` if the store is not open; `invalidRequest` if the batch cannot be written.
    public func plannedBatches(_ options: UploadOptions? = nil) async throws(TidelogError) -> [PlannedBatch] {
        try await reading().plannedBatches(options)
    }

    /// Returns every key that the service has assigned to an entity of this store.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func keyMap() async throws(TidelogError) -> [KeyAssignment] { try await reading().keyMap() }

    /// Returns a hash of the whole state. Stores whose logs have the same content have equal hashes.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func stateDigest() async throws(TidelogError) -> String { try await reading().stateDigest() }

    /// Returns the downloaded entities that could not be applied: because of an invalid value, a missing key, or a
    /// size above the limit of a log record.
    ///
    /// The store keeps its version of these entities. An entry is removed when the next download of its query can
    /// apply the entity or no longer contains it.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func quarantine() async throws(TidelogError) -> [QuarantineEntry] {
        try await reading().quarantine()
    }

    /// Returns the store as of an earlier point of its history, for reading only.
    ///
    /// Cost: building the views from the newest snapshot that is not later; see ``HistoricalODataProvider``.
    ///
    /// - Throws: `notFound` if a compaction has removed the required records, or if the store had no metadata at that
    ///   point; `damaged` if the records before the point cannot be read; `noStore` if the store is not open.
    public func state(at point: PointInTime) async throws(TidelogError) -> HistoricalODataProvider {
        // No flush needed: pages that a running download has collected are already in the log.
        _ = try engine()
        return try await place.past(at: point)
    }

    /// A Boolean value that indicates whether there are operations to send. Drafts and local-only operations do not
    /// count.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var hasPendingUpload: Bool {
        get async throws(TidelogError) { try await engine().store.queue.hasQueuedOperations() }
    }
}
