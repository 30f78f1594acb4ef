import EDM
import Operations

/// Links that are part of a key: the dependent properties of their constraint are key properties, so a change of the
/// link would change the key (OData 4.01 Part 1, 11.4.3: such a navigation property cannot be changed).
struct KeyLinks {
    let model: EntityDataModel

    /// The entity of a link whose key contains the link.
    enum Owner { case source, target }

    func owner(of navigation: Property, in type: EntityType, to target: EntityType) -> Owner? {
        guard let end = navigation.navigation else { return nil }
        if hasInKey(type, end.constraints) { return .source }
        if hasInKey(target, end.inverseConstraints) { return .target }
        return nil
    }

    private func hasInKey(_ type: EntityType, _ pairs: [ReferentialConstraint]) -> Bool {
        pairs.contains { pair in type.keyProperties.contains { $0.name == pair.dependent } }
    }
}
