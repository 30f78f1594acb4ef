public import EDM

/// A data modification in the terms of the protocol, before V2 or V4 gives it its form (OData 4.01 Part 1, section 11.4).
public struct DataModification: Sendable, Hashable {
    public enum Action: Sendable, Hashable {
        /// POST to an entity set.
        case create(in: EntitySet, EntityBody)
        /// POST to a collection-valued navigation property of an entity: created and linked at once.
        case createRelated(in: ResourceReference, navigation: Property, EntityBody)
        /// PATCH (V4) or MERGE (V2) with the changed properties and bindings only; `PUT` where `replaces`.
        case update(ResourceReference, EntityBody, replaces: Bool)
        case delete(ResourceReference)
        /// POST to `$links`/`$ref` of a collection-valued navigation property, PUT to that of a single-valued one.
        case link(from: ResourceReference, navigation: Property, to: ResourceReference)
        /// DELETE of `$links`/`$ref`; `to` is given for collection-valued navigation properties only.
        case unlink(from: ResourceReference, navigation: Property, to: ResourceReference?)
    }

    public var action: Action
    /// Sent as `If-Match`.
    public var ifMatch: String?
    /// Request-specific headers of the app; they win over those that the encoder writes.
    public var headers: HTTPHeaders
    /// Makes the create or update one of a stream: the body is the stream's bytes, which whoever sends the request adds.
    public var stream: StreamHead?

    public init(_ action: Action, ifMatch: String? = nil, headers: HTTPHeaders = .empty) {
        self.action = action
        self.ifMatch = ifMatch
        self.headers = headers
    }
}

/// What a request says of the stream that is its body (OData 4.01 Part 1, sections 11.4.7 and 11.4.8).
public struct StreamHead: Sendable, Hashable {
    /// The stream property that is written; nil for the stream of a media entity.
    public var property: String?
    /// Nil to delete the stream.
    public var mediaType: String?
    /// A name for the new media entity, sent as `Slug`.
    public var name: String?
    /// Where the service wants the stream written, absolute or below its root; nil where that follows from the entity's URL.
    public var editLink: String?

    public init(property: String? = nil, mediaType: String?, name: String? = nil, editLink: String? = nil) {
        self.property = property
        self.mediaType = mediaType
        self.name = name
        self.editLink = editLink
    }
}

/// The body of a create or update: values, links to existing entities, and entities to be created with it (deep insert).
public struct EntityBody: Sendable, Hashable {
    public var type: EntityType
    /// The type that the request's target declares; where `type` is derived from it, the body names its type.
    public var declaredType: EntityType?
    /// Structural and, for open types, dynamic properties.
    public var values: PropertyValues
    public var bindings: [Binding]
    public var inline: [InlineEntities]
    /// V4, inside of another body: written as `@Core.ContentID`, which the answer repeats.
    public var contentID: String?

    public init(
        type: EntityType, declaredType: EntityType? = nil, values: PropertyValues, bindings: [Binding] = [],
        inline: [InlineEntities] = []
    ) {
        self.type = type
        self.declaredType = declaredType
        self.values = values
        self.bindings = bindings
        self.inline = inline
    }

    /// `Nav@odata.bind` of V4, `__metadata.uri` of V2. Several targets for a collection-valued navigation property.
    public struct Binding: Sendable, Hashable {
        public var navigation: Property
        public var targets: [ResourceReference]

        public init(navigation: Property, targets: [ResourceReference]) {
            self.navigation = navigation
            self.targets = targets
        }
    }

    /// The new entities below one navigation property.
    public struct InlineEntities: Sendable, Hashable {
        public var navigation: Property
        public var entities: [EntityBody]

        public init(navigation: Property, entities: [EntityBody]) {
            self.navigation = navigation
            self.entities = entities
        }
    }
}
