import EDM

extension EntityDataModel {
    /// A navigation property in the other direction, with the type that it leads to; made up where the metadata have none.
    /// Nil where the property is not of this model.
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
