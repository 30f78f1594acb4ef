package import EDM

/// A resource path that is resolved against a model: the kind of each segment, and the target of the path.
package struct ResourcePath: Sendable, Hashable {
    package enum Segment: Sendable, Hashable {
        /// An entity set or a singleton.
        case entitySet(EntitySet)
        case key(KeySelector)
        case navigation(Property)
        case property(Property)
        /// A property that an open type does not declare.
        case dynamicProperty(String)
        /// A cast to an entity or complex type, which selects its instances.
        case type(StructuredType)
        /// `$links` of V2, followed by a navigation property.
        case links
        /// `$ref` of V4.
        case ref
        case count
        case value
        /// The item of an ordered collection. Negative indexes count from its end.
        case index(Int64)
        /// A function or action import. In V2 its parameters are query options.
        case operationImport(OperationImport, [ExpressionPath.Argument])
        /// A function or action bound to the preceding segment. The arguments exclude the binding parameter.
        case operation(ServiceOperation, [ExpressionPath.Argument])
        case metadata
        case batch
        /// The segment `$all`.
        case all
        /// The segment `$entity`. The entity-id is in the option `$id`.
        case entity
        case crossjoin([EntitySet])
        /// The segment `$filter(…)`.
        case filter(Expression)
        /// The segment `$each`.
        case each
        /// `$query`: the query options are in the request's body.
        case query
        /// `$1` as first segment: the target of the request with this Content-ID.
        case contentID(String)
        /// A segment after an unknown Content-ID.
        case unresolved(String)
    }

    /// The target of the path.
    package enum Target: Sendable, Hashable {
        case serviceDocument
        case metadata
        case batch
        /// Entities of several sets: `$all`, `$crossjoin`, or an entity of unknown type.
        case anyEntities
        case entities(EntityType, in: EntitySet?)
        case entity(EntityType, in: EntitySet?)
        /// A property's value or an operation's result, including collections.
        case value(TypeReference)
        /// The raw value of a primitive property (`$value`).
        case rawValue(PrimitiveType)
        /// The content of a media entity.
        case media(EntityType)
        case count
        /// Links. `to` is the selected one of a collection, as in `Customers(1)/$links/Orders(2)`.
        case references(Property?, EntityType, isCollection: Bool)
        /// An action without a result.
        case nothing
        /// The path begins with an unknown Content-ID.
        case unresolved
    }

    package let segments: [Segment]
    package let target: Target

    package init(segments: [Segment], target: Target) {
        self.segments = segments
        self.target = target
    }

    /// The type that query options apply to, or nil.
    package var queriedType: StructuredType? {
        switch target {
        case .entities(let type, _), .entity(let type, _), .references(_, let type, _): type
        default: nil
        }
    }
}
