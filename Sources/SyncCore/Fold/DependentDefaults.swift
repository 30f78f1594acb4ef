import EDM
import ODataQuery
import Operations

/// The dependent entities whose dependent properties receive their defaults when the service deletes an entity
/// (`OnDelete` with `SetDefault`, OData 4.01 Part 3, 8.6).
struct DependentDefaults {
    let storage: StateLayer
    let model: EntityDataModel
    let index: RelationshipIndex

    /// Returns the entities with the values that a deletion of the entity gives them. Null is the default of a property
    /// without one.
    ///
    /// Entities whose defaults refer to the deleted entity are omitted: they lose their principal, and the service
    /// rejects the deletion if they need one.
    func values(afterDeletionOf row: EntityRow) throws(StateError) -> [(dependent: EntityID, values: PropertyValues)] {
        guard index.setsDefaults(from: row.set), let deleted = try storage.row(row.id) else { return [] }
        var found: [(dependent: EntityID, values: PropertyValues)] = []
        for link in try storage.links(of: row.id) where link.inLocal {
            let isFirst = link.first == row.id
            let dependent = isFirst ? link.second : link.first
            guard index.setsDefaults(link.relationship, from: row.set, isFirst: isFirst),
                let other = try storage.row(dependent), let type = model.findEntityType(other.type),
                let constraint = index.constraint(link.relationship, dependentSet: other.set),
                constraint.dependentIsFirst != isFirst
            else { continue }
            let keys = type.keyProperties.map(\.name)
            // The key identifies the entity; the service decides.
            guard constraint.pairs.allSatisfy({ !keys.contains($0.dependent) }) else { continue }
            var values = PropertyValues()
            for pair in constraint.pairs {
                values[pair.dependent] = type.findProperty(pair.dependent)?.declaredDefault ?? .null
            }
            if constraint.pairs.allSatisfy({ deleted.values[$0.principal] == values[$0.dependent] }) { continue }
            found.append((dependent, values))
        }
        return found
    }
}
