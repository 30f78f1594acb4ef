import EDM

extension EntityDataModel {
    /// Returns the inverse of a navigation property, with its target type. If the metadata declare none, it is
    /// synthesized. Nil if the property is not part of this model.
    func backwards(_ property: Property) -> (property: Property, type: EntityType)? {
        guard let source = findEntityType(property.declaringType),
            let end = source.findProperty(property.name)?.navigation
        else { return nil }
        if let partner = end.partner, let found = findEntityType(end.targetType)?.findProperty(partner) {
            return (found, source)
        }
        let navigation = Navigation(
            targetType: source.name, multiplicity: .many, sourceMultiplicity: end.multiplicity, partner: property.name,
            relationship: end.relationship.reversed)
        return (
            Property(
                name: property.name, type: TypeReference(.entity(name: source.name), isCollection: true),
                navigation: navigation, declaringType: end.targetType), source
        )
    }
}
