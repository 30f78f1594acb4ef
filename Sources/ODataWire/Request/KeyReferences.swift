package import EDM
import ODataQuery

/// A single-valued navigation property whose target's key is part of the key of an entity.
///
/// A create must include such a target, as a reference or as a new entity (OData 4.01 Part 1, section 11.4.2).
package struct KeyReference: Sendable {
    package let navigation: Property
    /// The set of the target.
    package let set: EntitySet
    /// The constraint of the navigation property.
    package let pairs: [ReferentialConstraint]

    /// Returns the navigation properties of a type in a set whose targets contribute to its key. Empty for V2 and V3,
    /// which do not have the rule.
    package static func all(of type: EntityType, in set: EntitySet, _ model: EntityDataModel) -> [KeyReference] {
        guard !model.version.isLegacy else { return [] }
        return type.dependentNavigationProperties.compactMap { navigation in
            guard !navigation.isCollection, let pairs = navigation.navigation?.constraints,
                pairs.contains(where: { pair in type.keyProperties.contains { $0.name == pair.dependent } }),
                let target = model.principalSet(of: navigation, in: set, from: type)
            else { return nil }
            let principal = Set(target.entityType.keyProperties.map(\.name))
            guard pairs.allSatisfy({ principal.contains($0.principal) }) else { return nil }
            return KeyReference(navigation: navigation, set: target, pairs: pairs)
        }
    }

    /// Returns the values of the target that the values of the entity determine, or nil if one is missing or null.
    package func principalValues(_ values: PropertyValues) -> PropertyValues? {
        var found: PropertyValues = [:]
        for pair in pairs {
            guard let value = values[pair.dependent], value != .null else { return nil }
            found[pair.principal] = value
        }
        return found
    }

    /// Returns a reference to the target by its key, or nil if the values do not determine the whole key.
    package func reference(_ values: PropertyValues) -> ResourceReference? {
        guard let named = principalValues(values), let key = KeyPredicate(of: set.entityType, in: named) else {
            return nil
        }
        return .entity(set: set, key: key)
    }
}
