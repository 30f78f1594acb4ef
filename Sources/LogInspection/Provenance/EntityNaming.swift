import EDM
import Operations
import SyncCore

/// The display names of entities in a state.
struct EntityNaming {
    private let fold: Fold

    init(_ fold: Fold) { self.fold = fold }

    /// Returns a name such as `Customers('ALFKI')`, or `Customers(~3)` or `~3` if less is known.
    func reference(_ id: EntityID) throws(StateError) -> String {
        let storage = fold.storage
        guard let row = try storage.row(id) else {
            guard let set = try storage.set(of: id) else { return "\(id)" }
            return "\(set)(\(id))"
        }
        guard let model = fold.model else { return "\(row.set)(\(id))" }
        let root = try storage.header().service?.root ?? ""
        return EntityNames(storage: storage, model: model, serviceRoot: root).readLink(row)
    }
}
