public import EDM
import ODataWire
public import Operations
public import SyncEngine

/// What the service refused, what is in conflict, and what became of it cannot be known: to be looked at, mended, sent again or given up.
///
/// The same as entities: the sets `ErrorArchive` and `RequestQueue` answer queries by URL
/// (`ErrorArchive?$filter=HTTPStatusCode eq 409`, `ErrorArchive(12)/AffectedEntity`) and by ``DataQuery``, with
/// ``queueModel`` as their metadata.
extension OfflineODataProvider {
    /// The metadata of the sets `ErrorArchive`, `RequestQueue` and `EventLog` (the last downloads and uploads), which every store has besides those of its service.
    public static var queueModel: EntityDataModel { QueueModel.model }

    /// In the order in which the operations were made. An entity whose operation is in here stays as the app left it: to
    /// mend it, change it, and the next upload sends what both come to.
    public func errorArchive() async throws(TidelogError) -> [ErrorArchiveEntry] {
        try await engine().store.errorArchive()
    }

    /// Uploads, and sends of the requests that were refused before only these again. An upload without options sends all of
    /// them again.
    @discardableResult
    public func retry(_ requestIDs: [SequenceNumber]) async throws(TidelogError) -> UploadReport {
        let archive = try await errorArchive()
        if let undecided = archive.first(where: { $0.state == .conflict && requestIDs.contains($0.requestID) }) {
            throw TidelogError(
                .invalidRequest, "Operation \(undecided.requestID) is in conflict with what others did.",
                recovery: "Decide the conflict first.")
        }
        let refused = Set(archive.filter { $0.state == .rejected }.map(\.requestID))
        if let unknown = requestIDs.first(where: { !refused.contains($0) }) {
            throw TidelogError(
                .invalidRequest, "Operation \(unknown) is not among those that the service refused.",
                recovery: "Read the error archive again.")
        }
        var options = parameters.defaultUpload
        options.refused = .only(Set(requestIDs))
        return try await upload(options)
    }

    /// Gives requests up, with what could not have been made without them; everything else stays. Their entities are as if
    /// the requests had never been made. The same as an undo: it can be redone.
    ///
    /// - Throws: `refused(.notUndoable)` for one in doubt, of which the service may have the effect.
    @discardableResult
    public func discardErrors(_ requestIDs: [SequenceNumber]) async throws(TidelogError) -> UndoReport {
        try await engine().store.undo(.operations(requestIDs))
    }

    /// Gives up all that the service refused or that is in conflict, with what could not have been made without it.
    @discardableResult
    public func discardAllErrors() async throws(TidelogError) -> UndoReport {
        let refused = try await errorArchive().filter { $0.state != .inDoubt }.map(\.requestID)
        return refused.isEmpty ? UndoReport() : try await discardErrors(refused)
    }

    /// Lets operations that the service's new metadata have no place for say what of them does; the next upload sends that.
    /// What is left out stays in the log.
    ///
    /// - Throws: `refused(.notAllowed)` where an operation fits as it is, or nothing of it does.
    public func amendErrors(_ requestIDs: [SequenceNumber]) async throws(TidelogError) {
        try await engine().store.amend(requestIDs)
    }

    // MARK: Queue

    /// Uploads operations of these categories only. What depends on others waits with them.
    @discardableResult
    public func upload(categories: Set<UploadCategory>) async throws(TidelogError) -> UploadReport {
        var options = parameters.defaultUpload
        options.categories = categories
        return try await upload(options)
    }

    /// Lets drafts go with the next upload. Change sets go as a whole. Returns the operations that are queued now and were
    /// not before.
    @discardableResult
    public func release(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.setDelivery(.queued, of: operations)
    }

    /// Makes drafts of operations: they stay here until they are released, and what depends on them waits. For one that is
    /// in the way of others, or that the user is not through with.
    @discardableResult
    public func holdBack(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.setDelivery(.draft, of: operations)
    }

    // MARK: Deleting from the archive

    /// What deleting an entity of the archive does; nil where the intents are something else.
    func discard(_ intents: [(intent: Intent, options: IntentOptions)]) async throws(TidelogError) -> [IntentResult]? {
        guard intents.count == 1, case .delete(.link(let link)) = intents[0].intent,
            let operation = try await engine().store.archivedOperation(link)
        else { return nil }
        if parameters.enableIndividualErrorArchiveDeletion {
            try await discardErrors([operation])
        } else {
            try await discardAllErrors()
        }
        return [IntentResult()]
    }

    /// Tells the app of each request that the service refused.
    func tellFailures(_ report: UploadReport) async throws(TidelogError) {
        guard let requestFailed = parameters.requestFailed, !report.rejected.isEmpty else { return }
        let refused = Set(report.rejected.map(\.operation))
        for entry in try await errorArchive() where refused.contains(entry.requestID) { requestFailed(entry) }
    }
}
