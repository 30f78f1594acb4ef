package import ODataWire
package import OperationLog
import Operations
import SyncCore
import Views

/// Stores that are shipped with an app: they contain the entities of the service and nothing of the device that
/// prepared them.
package enum PreparedStore {
    /// Writes the store to a directory that must not exist, without encryption.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending.
    package static func write(
        _ store: isolated LocalStore, root: String, service: ServiceOptions?, to directory: String
    ) throws(TidelogError) {
        let pending = try store.core.read { try $0.pendingCount() }
        guard pending == 0 else {
            throw TidelogError(
                .refused(.notAllowed),
                "The store has \(pending) pending operations, which other devices must not send.",
                place: store.files.directory, recovery: "Upload or undo them first, and keep client-only changes.")
        }
        let unfinished = try UnfinishedStore(directory)
        do {
            try store.core.commitPages()
            let log = try LogCopy(
                directory: unfinished.files.log, store: .random(), firstSequence: store.core.log.nextSequence)
            try PreparedState.writeSnapshot(of: store.core.state) { try log.addSnapshotItem(kind: $0, payload: $1) }
            try log.finish()
            try unfinished.finish(StoreDescription(serviceRoot: root, service: service))
        } catch {
            unfinished.discard()
            throw store.core.mapped(error)
        }
    }

    /// Creates a store of this device from a prepared one, with an identifier of its own.
    ///
    /// - Parameter keys: The keys of the new store. The first one encrypts it.
    package static func install(
        _ prepared: String, at directory: String, keys: [LogKey]
    ) throws(TidelogError) {
        let source = StoreFiles(directory: prepared)
        guard let description = try StoreDescription.read(source) else {
            throw TidelogError(.noStore, "There is no prepared store.", place: prepared)
        }
        let unfinished = try UnfinishedStore(directory)
        do {
            let reader = try LogReader(directory: source.log)
            guard let snapshot = try reader.snapshots().last, snapshot.sequence == (try reader.nextSequence()) else {
                throw TidelogError(
                    .invalidRequest, "The store was not prepared for other devices.", place: prepared,
                    recovery: "Prepare a store first.")
            }
            let log = try LogCopy(
                directory: unfinished.files.log, store: .random(), firstSequence: snapshot.sequence, keys: keys)
            let items = try reader.snapshot(snapshot)
            while let item = try items.next() { try log.addSnapshotItem(kind: item.kind, payload: Array(item.bytes)) }
            try log.finish()
            try unfinished.finish(description, keys: keys)
        } catch {
            unfinished.discard()
            throw StoreCore.mapped(error, source)
        }
    }
}
