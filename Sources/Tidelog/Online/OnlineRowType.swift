import EDM
import ODataQuery

/// The type of rows that `$apply` combines from entities: the properties of the entities, and the aggregated values with
/// the types that a store would give them.
struct OnlineRowType {
    let type: EntityType

    /// Creates the type, or returns `nil` if the result of the query consists of entities.
    init?(_ options: QueryOptions, _ entities: EntityType, _ model: EntityDataModel) {
        guard options.apply.contains(where: \.combines) else { return nil }
        let aggregates = options.apply.flatMap(\.aggregates)
        let named: [Property] = aggregates.compactMap { item in
            guard let name = item.name, let type = Self.type(of: item.subject, entities, model)
            else { return nil }
            return Property(name: name, type: type, declaringType: entities.name)
        }
        // A result hides a property with its name.
        let hidden = Set(aggregates.compactMap(\.name))
        type = Self.opened(
            entities, properties: entities.properties.filter { !hidden.contains($0.name) } + named, navigation: [])
    }

    /// Returns a type that may have further properties.
    static func opened(_ type: EntityType, properties: [Property], navigation: [Property]) -> EntityType {
        StructuredType(
            kind: type.kind, name: type.name, baseType: type.baseType, isOpen: true, hasStream: type.hasStream,
            properties: properties, navigationProperties: navigation, keyProperties: type.keyProperties,
            keyReferences: type.keyReferences, alternateKeys: type.alternateKeys,
            unusableProperties: type.unusableProperties)
    }

    /// Returns the type of an aggregated value, as far as it is known.
    private static func type(
        of subject: AggregateItem.Subject, _ entities: EntityType, _ model: EntityDataModel
    ) -> TypeReference? {
        let decimal = TypeReference(.primitive(.decimal))
        switch subject {
        case .count: return decimal
        case .custom: return nil
        case .values(_, .countDistinct): return decimal
        case .values(let operand, let method):
            guard case .path(let path) = operand, let names = path.propertyNames,
                let found = property(names[...], of: entities, model)
            else { return nil }
            switch (method, found.primitive) {
            case (.min, _), (.max, _), (_, .double?), (_, .single?): return found
            case (.sum, .decimal?), (.average, .decimal?): return decimal
            case (.sum, let primitive?) where primitive.isInteger: return TypeReference(.primitive(.int64))
            case (.average, let primitive?) where primitive.isInteger: return decimal
            default: return nil
            }
        }
    }

    private static func property(
        _ names: ArraySlice<String>, of type: StructuredType, _ model: EntityDataModel
    ) -> TypeReference? {
        guard let first = names.first, let property = type.findProperty(first) else { return nil }
        guard names.count > 1 else { return property.isNavigation ? nil : property.type }
        let next = property.navigation.flatMap { model.findEntityType($0.targetType) }
        return (next ?? model.findComplexType(property.type.name)).flatMap {
            Self.property(names.dropFirst(), of: $0, model)
        }
    }
}

extension Transformation {
    /// Whether the output instances are not the entities of the input.
    fileprivate var combines: Bool {
        switch self {
        case .aggregate, .groupBy, .nest, .addNested, .join: true
        case .concat(let sequences): sequences.contains { $0.contains(where: \.combines) }
        default: false
        }
    }

    /// The aggregates of the transformation, at any depth.
    fileprivate var aggregates: [AggregateItem] {
        switch self {
        case .aggregate(let items): items
        case .groupBy(_, let inner): inner.flatMap(\.aggregates)
        case .concat(let sequences): sequences.flatMap { $0.flatMap(\.aggregates) }
        default: []
        }
    }
}
