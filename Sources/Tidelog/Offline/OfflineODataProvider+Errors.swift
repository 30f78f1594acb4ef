public import EDM
public import OfflineStore
public import Operations

/// The error archive: operations that the service rejected, that are in conflict, or that are in doubt. They can be
/// inspected, amended, retried or discarded.
///
/// The archive is also available as entities: the sets `ErrorArchive` and `RequestQueue` can be queried by URL
/// (`ErrorArchive?$filter=HTTPStatusCode eq 409`, `ErrorArchive(12)/AffectedEntity`) and by ``DataQuery``, with
/// ``queueModel`` as their metadata.
extension OfflineODataProvider {
    /// The metadata of the sets `ErrorArchive`, `RequestQueue` and `EventLog` (the last downloads and uploads), which
    /// every store has in addition to those of its service.
    public static var queueModel: EntityDataModel { QueueModel.model }

    /// Returns the error archive, in the order in which the operations were made.
    ///
    /// An entity with an archived operation keeps its local values. To amend it, change it; the next upload sends the
    /// combined result.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func errorArchive() async throws(TidelogError) -> [ErrorArchiveEntry] {
        try await engine().store.queue.errorArchive()
    }

    /// Uploads, and retries only the given rejected requests. An upload without options retries all of them.
    ///
    /// - Throws: `invalidRequest` if a request is in conflict, or is not a rejected one.
    @discardableResult
    public func retry(_ requestIDs: [SequenceNumber]) async throws(TidelogError) -> UploadReport {
        try (try await errorArchive()).checkRejected(requestIDs)
        var options = parameters.defaultUpload
        options.refused = .only(Set(requestIDs))
        return try await upload(options)
    }

    /// Discards requests together with the operations that depend on them. Everything else is kept.
    ///
    /// The entities revert to the state without the requests. Like an undo, this can be redone.
    ///
    /// - Throws: `refused(.notUndoable)` for a request in doubt, which may have taken effect on the service.
    @discardableResult
    public func discardErrors(_ requestIDs: [SequenceNumber]) async throws(TidelogError) -> UndoReport {
        try await engine().store.queue.undo(.operations(requestIDs))
    }

    /// Discards all requests that the service rejected or that are in conflict, together with the operations that
    /// depend on them.
    ///
    /// - Throws: `refused(.notUndoable)` if an operation that depends on them is in flight or in doubt; nothing is
    ///   discarded then. `noStore` if the store is not open.
    @discardableResult
    public func discardAllErrors() async throws(TidelogError) -> UndoReport {
        let refused = try await errorArchive().filter { $0.state != .inDoubt }.map(\.requestID)
        return refused.isEmpty ? UndoReport() : try await discardErrors(refused)
    }

    /// Reduces operations that no longer fit the service's new metadata to the parts that fit. The next upload sends
    /// these.
    ///
    /// The omitted parts remain in the log.
    ///
    /// - Throws: `refused(.notAllowed)` if an operation fits already, or if no part of it fits.
    public func amendErrors(_ requestIDs: [SequenceNumber]) async throws(TidelogError) {
        try await engine().store.metadata.amend(requestIDs)
    }

    // MARK: Queue

    /// Uploads only operations of the given categories. Operations that depend on other categories remain pending.
    ///
    /// - Throws: Like ``upload(_:)``.
    @discardableResult
    public func upload(categories: Set<UploadCategory>) async throws(TidelogError) -> UploadReport {
        var options = parameters.defaultUpload
        options.categories = categories
        return try await upload(options)
    }

    /// Queues drafts for the next upload. Change sets are released as a whole.
    ///
    /// - Returns: The operations that were drafts before and are queued now.
    /// - Throws: `refused(.notAllowed)` if an operation is not pending, has been sent, or is local-only.
    @discardableResult
    public func release(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.queue.setDelivery(.queued, of: operations)
    }

    /// Turns operations into drafts, which stay in the store until they are released. Operations that depend on them
    /// remain pending.
    ///
    /// Change sets are held back as a whole. Use it for an operation that blocks other operations, or that the user has
    /// not finished.
    ///
    /// - Returns: The operations that were queued before and are drafts now.
    /// - Throws: `refused(.notAllowed)` if an operation is not pending, has been sent, or is local-only.
    @discardableResult
    public func holdBack(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.queue.setDelivery(.draft, of: operations)
    }

    // MARK: Deleting from the archive

    /// Discards archived operations if the intents delete an entity of the archive. Returns `nil` for all other
    /// intents.
    func discard(_ intents: [(intent: Intent, options: IntentOptions)]) async throws(TidelogError) -> [IntentResult]? {
        guard intents.count == 1, case .delete(.link(let link)) = intents[0].intent,
            let operation = try await engine().store.queue.archivedOperation(link)
        else { return nil }
        if parameters.enableIndividualErrorArchiveDeletion {
            try await discardErrors([operation])
        } else {
            try await discardAllErrors()
        }
        return [IntentResult()]
    }

    /// Calls `requestFailed` for each request that the service rejected.
    func reportFailures(_ report: UploadReport) async throws(TidelogError) {
        guard let requestFailed = parameters.requestFailed, !report.rejected.isEmpty else { return }
        let refused = Set(report.rejected.map(\.operation))
        for entry in try await errorArchive() where refused.contains(entry.requestID) { requestFailed(entry) }
    }
}

extension [ErrorArchiveEntry] {
    /// Throws unless the service has rejected all of the requests, and none is in conflict.
    fileprivate func checkRejected(_ requestIDs: [SequenceNumber]) throws(TidelogError) {
        if let undecided = first(where: { $0.state == .conflict && requestIDs.contains($0.requestID) }) {
            throw TidelogError(
                .invalidRequest, "Operation \(undecided.requestID) is in conflict with changes of another client.",
                recovery: "Resolve the conflict first.")
        }
        let refused = Set(filter { $0.state == .rejected }.map(\.requestID))
        if let unknown = requestIDs.first(where: { !refused.contains($0) }) {
            throw TidelogError(
                .invalidRequest, "Operation \(unknown) is not a rejected operation.",
                recovery: "Read the error archive again.")
        }
    }
}
