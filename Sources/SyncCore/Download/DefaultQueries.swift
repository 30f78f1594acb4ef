package import EDM
package import Operations

/// The default defining queries of a store: all entities of every set and every singleton, with all their links and
/// contained entities.
package enum DefaultQueries {
    /// An element of the service that a store with these queries does not contain.
    package struct Omission: Sendable, Hashable {
        /// The path, such as `Customers/Photo`.
        package let path: String
        /// The reason, as a clause for display.
        package let reason: String
    }

    /// Returns one query for each entity set and each singleton, in the order of the document.
    ///
    /// Relationships with dependent properties need no expansion. Any other relationship is only visible through
    /// `$expand`, so it is expanded once, from a to-one end if there is one.
    package static func of(_ model: EntityDataModel) -> [DefiningQuery] {
        var chosen: [String: (set: EntitySet, property: Property)] = [:]
        for set in model.entitySets where !set.isClientOnly {
            for property in set.entityType.navigationProperties where !property.isClientOnly {
                guard let end = property.navigation, end.constraints.isEmpty, end.inverseConstraints.isEmpty,
                    !end.containsTarget, model.target(of: property, in: set) != nil
                else { continue }
                if let known = chosen[end.relationship.name], !known.property.isCollection || property.isCollection {
                    continue
                }
                chosen[end.relationship.name] = (set, property)
            }
        }
        return (model.entitySets + model.singletons).filter { !$0.isClientOnly }.map { set in
            let contained = expansions(of: set, model, depth: 0)
            // A singleton is one entity, so its links do not cover those of other entities of its type.
            let own =
                set.isSingleton
                ? links(of: set, model) : chosen.values.filter { $0.set == set }.map(\.property.name)
            let expanded = (own + contained).sorted()
            let suffix = expanded.isEmpty ? "" : "?$expand=" + expanded.joined(separator: ",")
            return DefiningQuery(name: set.name, query: set.name + suffix)
        }
    }

    /// Returns the navigation properties of a singleton that are only visible through `$expand`.
    private static func links(of set: EntitySet, _ model: EntityDataModel) -> [String] {
        set.entityType.navigationProperties.filter { property in
            guard let end = property.navigation, !end.containsTarget, !property.isClientOnly else { return false }
            return end.constraints.isEmpty && end.inverseConstraints.isEmpty
                && model.target(of: property, in: set) != nil
        }.map(\.name)
    }

    /// Returns the elements of the service that the queries do not include, with the reasons.
    package static func omittedElements(of model: EntityDataModel) -> [Omission] {
        (model.entitySets + model.singletons).filter { !$0.isClientOnly }.flatMap {
            omissions(below: $0, $0.name, model, depth: 0)
        }
    }

    private static func omissions(
        below set: EntitySet, _ path: String, _ model: EntityDataModel, depth: Int
    ) -> [Omission] {
        var found: [Omission] = []
        for property in set.entityType.navigationProperties {
            let place = "\(path)/\(property.name)"
            guard property.navigation?.containsTarget != true, !property.isClientOnly else { continue }
            if model.target(of: property, in: set) == nil {
                found.append(Omission(path: place, reason: "the metadata names no entity set for its target"))
            }
        }
        if set.entityType.hasStream {
            found.append(Omission(path: "\(path)/$value", reason: "streams are read only if a query requests them"))
        }
        for contained in model.containedSets(in: set) where contained.containment?.parent == set {
            guard let name = contained.containment?.navigation.name else { continue }
            if depth < deepest {
                found += omissions(below: contained, "\(path)/\(name)", model, depth: depth + 1)
            } else {
                found.append(
                    Omission(path: "\(path)/\(name)", reason: "it is nested more than \(deepest) containments deep"))
            }
        }
        return found
    }

    /// The depth to which contained entities are expanded.
    private static let deepest = 4

    /// Returns the contained entities of a set as items of `$expand`. A recursive containment, such as folders in
    /// folders, is expanded once.
    private static func expansions(of set: EntitySet, _ model: EntityDataModel, depth: Int) -> [String] {
        guard depth < deepest else { return [] }
        return model.containedSets(in: set).compactMap { contained in
            guard let containment = contained.containment else { return nil }
            let name = (containment.cast.map { $0 + "/" } ?? "") + containment.navigation.name
            guard containment.parent == set, !containment.navigation.isClientOnly else { return nil }
            let below = expansions(of: contained, model, depth: depth + 1)
            return below.isEmpty ? name : "\(name)($expand=\(below.joined(separator: ",")))"
        }
    }
}
