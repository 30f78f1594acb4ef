import EDM
public import OfflineStore
import Operations
import SyncCore

/// The state of the queue and of the downloads, and reads that later changes do not affect.
extension OfflineODataProvider {
    /// The version of Tidelog.
    public static var libraryVersion: String { "0.1.0" }

    /// A Boolean value that indicates whether a download is incomplete: a defining query was never downloaded, or its
    /// last download was interrupted and continues with the next one.
    ///
    /// Reads no service. Whether the service has newer data is not known before a download.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var hasPendingDownload: Bool {
        get async throws(TidelogError) { try await engine().store.definingQueries.hasPendingDownload() }
    }

    /// A Boolean value that indicates whether there are no unfinished operations: none that wait, are in flight or in
    /// doubt, were rejected, or are drafts or local-only.
    ///
    /// ``hasPendingUpload`` concerns only those that the next upload sends.
    ///
    /// - Throws: `noStore` if the store is not open.
    public var requestQueueIsEmpty: Bool {
        get async throws(TidelogError) { try await engine().store.queue.pendingCount() == 0 }
    }

    /// Returns the store as it is now, for a series of reads that later changes, uploads and downloads do not affect.
    ///
    /// Use it with a second service: `ShopService(provider: try await provider.snapshot())`. Release it when the reads
    /// are done.
    ///
    /// Cost: like ``state(at:)``, memory for the whole state included.
    ///
    /// - Throws: Like ``state(at:)``.
    public func snapshot() async throws(TidelogError) -> HistoricalODataProvider {
        try await state(at: .sequence(.max))
    }

    /// Undoes the operations that the app made before the given time and that the service has not received, like
    /// ``undoAllPendingChanges()``.
    ///
    /// An app calls it to let local changes expire. Later operations that depend on the undone ones are undone too; the
    /// report contains them. Operations in flight or in doubt are kept.
    ///
    /// - Parameter time: in milliseconds since 1970, by the device's clock; see ``OperationStatus/time``.
    /// - Throws: `refused(.notUndoable)` if an operation that depends on them is in flight or in doubt; nothing is
    ///   undone then. `noStore` if the store is not open.
    @discardableResult
    public func undoPendingChanges(before time: Int64) async throws(TidelogError) -> UndoReport {
        let old = try await engine().store.queue.pendingOperations().filter {
            guard $0.time < time else { return false }
            switch $0.status {
            case .pending, .rejected, .deferred: return true
            case .inFlight, .inDoubt: return false
            }
        }
        return old.isEmpty ? UndoReport() : try await undo(.operations(old.map(\.sequence)))
    }
}
