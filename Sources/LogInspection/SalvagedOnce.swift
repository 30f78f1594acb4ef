import OperationLog
import SyncEngine
import Synchronization

/// What can be read of a damaged log, made when the damage is met first, for all copies of an ``InspectedStore``.
final class SalvagedOnce: Sendable {
    /// Whether the store is one of what could be read itself.
    let isSalvaged: Bool
    /// What was saved then; nil where nothing had to be.
    let salvage: RepairPlan.Salvage?
    private let tell: @Sendable (RepairPlan.Salvage) -> Void
    private let made = Mutex<InspectedStore?>(nil)

    /// Of a store as it is on disk.
    init(_ tell: @escaping @Sendable (RepairPlan.Salvage) -> Void) {
        isSalvaged = false
        salvage = nil
        self.tell = tell
    }

    /// Of one that was made.
    init(made salvage: RepairPlan.Salvage?) {
        isSalvaged = true
        self.salvage = salvage
        tell = { _ in }
    }

    /// - Parameter make: is called once, by whoever comes first; the others wait.
    func store(_ make: () throws(TidelogError) -> InspectedStore) throws(TidelogError) -> InspectedStore {
        try made.withLock { made throws(TidelogError) in
            if let made { return made }
            let store = try make()
            made = store
            if let salvage = store.salvage { tell(salvage) }
            return store
        }
    }
}
