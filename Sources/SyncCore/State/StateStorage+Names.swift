public import EDM
import ODataWire
public import Operations

extension StateStorage {
    /// An entity as a person knows it: `Cars(1)`, and `Cars(~7)` as long as it has no key. Also of one that was deleted here.
    public func name(of id: EntityID, _ model: EntityDataModel) throws(StateError) -> String {
        let set = try set(of: id) ?? "Entity"
        var row = try row(id)
        if row == nil, case .row(let base)? = try base(id) { row = base }
        guard let row, let type = model.findEntityType(row.type), let key = KeyPredicate(of: type, in: row.values)
        else {
            return "\(set)(\(id))"
        }
        return "\(set)(\(KeyText.predicate(key)))"
    }
}
