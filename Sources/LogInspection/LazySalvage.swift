import OfflineStore
import OperationLog
import Synchronization

/// The readable part of a damaged log, built at the first damage and shared by all copies of an ``InspectedStore``.
final class LazySalvage: Sendable {
    /// Whether the store is itself a salvaged one.
    let isSalvaged: Bool
    /// The salvage report, or nil if nothing had to be salvaged.
    let salvage: RepairPlan.Salvage?
    private let report: @Sendable (RepairPlan.Salvage) -> Void
    private let made = Mutex<InspectedStore?>(nil)

    /// Creates the value for a store as it is on disk.
    init(_ report: @escaping @Sendable (RepairPlan.Salvage) -> Void) {
        isSalvaged = false
        salvage = nil
        self.report = report
    }

    /// Creates the value for a salvaged store.
    init(made salvage: RepairPlan.Salvage?) {
        isSalvaged = true
        self.salvage = salvage
        report = { _ in }
    }

    /// Returns the salvaged store.
    ///
    /// - Parameter make: Called once. Concurrent callers wait.
    func store(_ make: () throws(TidelogError) -> InspectedStore) throws(TidelogError) -> InspectedStore {
        try made.withLock { made throws(TidelogError) in
            if let made { return made }
            let store = try make()
            made = store
            if let salvage = store.salvage { report(salvage) }
            return store
        }
    }
}
