package import EDM
import ODataQuery
package import Operations

extension StateReader {
    /// Returns the display name of an entity: `Cars(1)`, or `Cars(~7)` before it has a key. Also for locally deleted
    /// entities.
    package func name(of id: EntityID, _ model: EntityDataModel) throws(StateError) -> String {
        let set = try set(of: id) ?? "Entity"
        var row = try row(id)
        if row == nil, case .row(let base)? = try base(id) { row = base }
        if let own = model.findEntitySet(set), own.isContained, let name = try containedName(of: id, own, row, model) {
            return name
        }
        guard let row, let type = model.findEntityType(row.type), let key = KeyPredicate(of: type, in: row.values)
        else {
            return "\(set)(\(id))"
        }
        return "\(set)(\(KeyText.predicate(key)))"
    }

    /// Returns a name such as `People('ann')/Trips(0)`, or nil if the entity has no container any more.
    private func containedName(
        of id: EntityID, _ set: EntitySet, _ row: EntityRow?, _ model: EntityDataModel
    ) throws(StateError) -> String? {
        var (id, set, row, end) = (id, set, row, "")
        for _ in 0..<EntityResolver<Self>.deepestContainment {
            guard let containment = set.containment else { return try name(of: id, model) + end }
            var step = "/" + containment.navigation.name
            if containment.navigation.isCollection {
                let key = row.flatMap { row in
                    model.findEntityType(row.type).flatMap { KeyPredicate(of: $0, in: row.values) }
                }
                step += key.map { "(\(KeyText.predicate($0)))" } ?? "(\(id))"
            }
            end = step + end
            guard let parent = try container(of: id, in: set),
                let parentSet = try self.set(of: parent).flatMap({ model.findEntitySet($0) })
            else { return nil }
            (id, set) = (parent, parentSet)
            row = try self.row(parent)
            if row == nil, case .row(let base)? = try base(parent) { row = base }
        }
        return nil
    }
}
