import EDM
import Operations
import SyncCore

/// How entities are named in a state.
struct EntityNaming {
    private let fold: Fold<MemoryState>

    init(_ fold: Fold<MemoryState>) { self.fold = fold }

    /// `Customers('ALFKI')`; `Customers(~3)` or `~3` where nothing more is known.
    func reference(_ id: EntityID) -> String {
        let storage = fold.storage
        guard let row = storage.row(id) else {
            guard let set = storage.set(of: id) else { return "\(id)" }
            return "\(set)(\(id))"
        }
        guard let model = fold.model else { return "\(row.set)(\(id))" }
        return EntityNames(storage: storage, model: model, serviceRoot: storage.header().service?.root ?? "").readLink(
            row)
    }
}
