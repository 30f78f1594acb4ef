import EDM
import Operations
import SyncCore

/// Client-only changes of a store: how many of them can be undone.
package struct ClientChanges {
    /// The number of client-only operations that can be undone.
    var undoable = 1_000
    /// The number of operations that are not to be sent above which older ones are kept; nil before the first check.
    private var limit: Int?

    init(undoable: Int) { self.undoable = undoable }

    /// Makes the oldest client-only changes permanent if there are more than can be undone.
    static func limit(in core: StoreCore) throws(TidelogError) {
        let (undoable, limit) = (core.clientChanges.undoable, core.clientChanges.limit)
        let held = try core.read { try $0.heldBackCount() }
        guard held > limit ?? undoable else { return }
        let kept = try keep(in: core, leaving: undoable / 2)
        core.clientChanges.limit = max(undoable, held - kept + undoable / 2)
    }

    /// Makes client-only changes permanent, except the newest ones. Returns their number.
    @discardableResult
    static func keep(in core: StoreCore, leaving remaining: Int) throws(TidelogError) -> Int {
        let model = try core.model
        return try core.transaction { () throws -> Int in
            let found = try KeepableChanges(storage: core.state, model: model).operations(leaving: remaining)
            guard !found.isEmpty else { return 0 }
            try core.add(.clientChangesKept(found))
            _ = try core.commit()
            return found.count
        }
    }

    /// Makes all client-only changes permanent that do not depend on pending operations.
    ///
    /// - Returns: The number of operations.
    package static func keepAll(in store: isolated LocalStore) async throws(TidelogError) -> Int {
        let count = try keep(in: store.core, leaving: 0)
        try await store.core.acknowledge()
        return count
    }
}
