public import EDM

/// A data modification in protocol terms, independent of the protocol version (OData 4.01 Part 1, section 11.4).
public struct DataModification: Sendable, Hashable {
    public enum Action: Sendable, Hashable {
        /// A POST to an entity set.
        case create(in: EntitySet, EntityBody)
        /// A POST to a collection-valued navigation property of an entity, which creates and links the new entity.
        case createRelated(in: ResourceReference, navigation: Property, EntityBody)
        /// A PATCH (V4) or MERGE (V2) request with only the changed properties and bindings, or a `PUT` if `replaces`
        /// is true.
        case update(ResourceReference, EntityBody, replaces: Bool)
        case delete(ResourceReference)
        /// A POST to `$links`/`$ref` of a collection-valued navigation property, or a PUT to that of a single-valued
        /// one.
        case link(from: ResourceReference, navigation: Property, to: ResourceReference)
        /// A DELETE of `$links`/`$ref`. `to` is set for collection-valued navigation properties only.
        case unlink(from: ResourceReference, navigation: Property, to: ResourceReference?)
        /// A call of an action, which change sets of V4 may contain (OData 4.01 Part 1, section 11.7.4). Its query
        /// options are not sent.
        ///
        /// Indirect, because modifications are copied often and should be small.
        indirect case invoke(OperationInvocation)
    }

    public var action: Action
    /// The value of the `If-Match` header.
    public var ifMatch: String?
    /// The app's headers for this request. They take precedence over those of the encoder.
    public var headers: HTTPHeaders
    /// The stream that is created or updated. The body consists of the stream's bytes, which the sender adds.
    public var stream: StreamHead?

    public init(_ action: Action, ifMatch: String? = nil, headers: HTTPHeaders = .empty) {
        self.action = action
        self.ifMatch = ifMatch
        self.headers = headers
    }
}

/// The properties of a stream in a request (OData 4.01 Part 1, sections 11.4.7 and 11.4.8).
public struct StreamHead: Sendable, Hashable {
    /// The stream property, or nil for the stream of a media entity.
    public var property: String?
    /// The media type, or nil to delete the stream.
    public var mediaType: String?
    /// The name of the new media entity, sent as `Slug`.
    public var name: String?
    /// The stream's edit link, absolute or relative to the service root. Nil if it follows from the entity's URL.
    public var editLink: String?

    public init(property: String? = nil, mediaType: String?, name: String? = nil, editLink: String? = nil) {
        self.property = property
        self.mediaType = mediaType
        self.name = name
        self.editLink = editLink
    }
}

/// The body of a create or update: values, links to existing entities, and entities to create along with it (deep
/// insert).
public struct EntityBody: Sendable, Hashable {
    public var type: EntityType
    /// The declared type of the request's target. If `type` is derived from it, the body contains its type.
    public var declaredType: EntityType?
    /// Structural and, for open types, dynamic properties.
    public var values: PropertyValues
    public var bindings: [Binding]
    public var inline: [InlineEntities]
    /// The `@Core.ContentID` of an entity inside of a V4 deep insert, which the response repeats.
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

    /// Links to existing entities: `Nav@odata.bind` of V4, `__metadata.uri` of V2. A collection-valued navigation
    /// property may have several targets.
    public struct Binding: Sendable, Hashable {
        public var navigation: Property
        public var targets: [ResourceReference]

        public init(navigation: Property, targets: [ResourceReference]) {
            self.navigation = navigation
            self.targets = targets
        }
    }

    /// The new entities of one navigation property.
    public struct InlineEntities: Sendable, Hashable {
        public var navigation: Property
        public var entities: [EntityBody]

        public init(navigation: Property, entities: [EntityBody]) {
            self.navigation = navigation
            self.entities = entities
        }
    }
}
