public import EDM

/// A resource path, resolved against a model: what each segment is, and what the whole leads to.
public struct ResourcePath: Sendable, Hashable {
    public enum Segment: Sendable, Hashable {
        /// A set or a singleton.
        case entitySet(EntitySet)
        case key(KeySelector)
        case navigation(Property)
        case property(Property)
        /// A property that an open type does not declare.
        case dynamicProperty(String)
        /// Only instances of that entity or complex type.
        case type(StructuredType)
        /// `$links` of V2; a navigation property follows.
        case links
        /// `$ref` of V4.
        case ref
        case count
        case value
        /// The item of an ordered collection; negative from its end.
        case index(Int64)
        /// A function or action import; in V2 its parameters are query options.
        case operationImport(OperationImport, [ExpressionPath.Argument])
        /// A function or action bound to what is before it. The arguments do not hold the binding parameter.
        case operation(ServiceOperation, [ExpressionPath.Argument])
        case metadata
        case batch
        /// `$all`
        case all
        /// `$entity`; the entity-id is in the option `$id`.
        case entity
        case crossjoin([EntitySet])
        /// `$filter(…)`
        case filter(Expression)
        /// `$each`
        case each
        /// `$query`: the query options are in the request's body.
        case query
        /// `$1` as first segment: what the request with that Content-ID addresses.
        case contentID(String)
        /// A segment behind a Content-ID of which nothing is known.
        case unresolved(String)
    }

    /// What the path addresses.
    public enum Target: Sendable, Hashable {
        case serviceDocument
        case metadata
        case batch
        /// Entities of several sets: `$all`, `$crossjoin`, or an entity without a known type.
        case anyEntities
        case entities(EntityType, in: EntitySet?)
        case entity(EntityType, in: EntitySet?)
        /// A property's value, or what an operation returned; collections included.
        case value(TypeReference)
        /// The raw value of a primitive property (`$value`).
        case rawValue(PrimitiveType)
        /// The bytes of a media entity.
        case media(EntityType)
        case count
        /// Links; `to` is the one in question in a collection, as in `Customers(1)/$links/Orders(2)`.
        case references(Property?, EntityType, isCollection: Bool)
        /// An action that returns nothing.
        case nothing
        /// The path begins with a Content-ID of which nothing is known.
        case unresolved
    }

    public let segments: [Segment]
    public let target: Target

    public init(segments: [Segment], target: Target) {
        self.segments = segments
        self.target = target
    }

    /// The type that query options apply to, where there is one.
    public var queriedType: StructuredType? {
        switch target {
        case .entities(let type, _), .entity(let type, _), .references(_, let type, _): type
        default: nil
        }
    }
}
