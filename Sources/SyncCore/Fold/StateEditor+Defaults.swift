import EDM
import ODataWire
import Operations

extension StateEditor {
    /// Returns the dependent entities whose dependent properties receive their defaults when the service deletes the
    /// entity (`OnDelete` with `SetDefault`, OData 4.01 Part 3, 8.6), with these values. Null is the default of a
    /// property without one.
    func dependentsWithDefaults(
        of row: EntityRow
    ) throws(StateError) -> [(dependent: EntityID, values: PropertyValues)] {
        var found: [(dependent: EntityID, values: PropertyValues)] = []
        for link in try storage.links(of: row.id) where link.inLocal {
            let isFirst = link.first == row.id
            guard index.setsDefaults(link.relationship, from: row.set, isFirst: isFirst) else { continue }
            let dependent = isFirst ? link.second : link.first
            guard let other = try storage.row(dependent),
                let constraint = index.constraint(link.relationship, dependentSet: other.set),
                constraint.dependentIsFirst != isFirst
            else { continue }
            let type = try type(other.type)
            let keys = type.keyProperties.map(\.name)
            // The key identifies the entity; the service decides.
            guard constraint.pairs.allSatisfy({ !keys.contains($0.dependent) }) else { continue }
            var values = PropertyValues()
            for pair in constraint.pairs {
                values[pair.dependent] = type.findProperty(pair.dependent)?.declaredDefault ?? .null
            }
            found.append((dependent, values))
        }
        return found
    }
}
