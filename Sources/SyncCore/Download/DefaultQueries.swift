public import EDM
public import Operations

/// The defining queries of a store for which none were named: all entities of every set, with all their links and all that
/// they contain.
public enum DefaultQueries {
    /// One query for each entity set, in the order of the document.
    ///
    /// Where dependent properties say who is linked to whom, nothing more is needed. Other relationships are seen by
    /// `$expand` only: each is expanded once, from an end that leads to one entity if there is one.
    public static func of(_ model: EntityDataModel) -> [DefiningQuery] {
        var chosen: [String: (set: EntitySet, property: Property)] = [:]
        for set in model.entitySets {
            for property in set.entityType.navigationProperties {
                guard let end = property.navigation, end.constraints.isEmpty, end.inverseConstraints.isEmpty,
                    !end.containsTarget, model.target(of: property, in: set) != nil
                else { continue }
                if let known = chosen[end.relationship.name], !known.property.isCollection || property.isCollection {
                    continue
                }
                chosen[end.relationship.name] = (set, property)
            }
        }
        return model.entitySets.map { set in
            let contained = expansions(of: set, model, depth: 0)
            let expanded = (chosen.values.filter { $0.set == set }.map(\.property.name) + contained).sorted()
            let suffix = expanded.isEmpty ? "" : "?$expand=" + expanded.joined(separator: ",")
            return DefiningQuery(name: set.name, query: set.name + suffix)
        }
    }

    /// How deep contained entities are expanded below each other.
    private static let deepest = 4

    /// What the entities of a set contain, as items of `$expand`. What contains itself, as folders do, is expanded once.
    private static func expansions(of set: EntitySet, _ model: EntityDataModel, depth: Int) -> [String] {
        guard depth < deepest else { return [] }
        return model.containedSets(in: set).compactMap { contained in
            guard let containment = contained.containment else { return nil }
            let name = (containment.cast.map { $0 + "/" } ?? "") + containment.navigation.name
            guard contained.containment?.parent == set else { return nil }
            let below = expansions(of: contained, model, depth: depth + 1)
            return below.isEmpty ? name : "\(name)($expand=\(below.joined(separator: ",")))"
        }
    }
}
