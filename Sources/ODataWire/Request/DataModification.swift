package import EDM

/// A data modification in protocol terms, independent of the protocol version (OData 4.01 Part 1, section 11.4).
package struct DataModification: Sendable, Hashable {
    /// The cases with a body are indirect, because modifications are copied often and should be small.
    package enum Action: Sendable, Hashable {
        /// A POST to an entity set.
        indirect case create(in: EntitySet, EntityBody)
        /// A POST to a collection-valued navigation property of an entity, which creates and links the new entity.
        indirect case createRelated(in: ResourceReference, navigation: Property, EntityBody)
        /// A PATCH (V4) or MERGE (V2) request with only the changed properties and bindings, or a `PUT` if `replaces`
        /// is true.
        indirect case update(ResourceReference, EntityBody, replaces: Bool)
        case delete(ResourceReference)
        /// A POST to `$links`/`$ref` of a collection-valued navigation property, or a PUT to that of a single-valued
        /// one.
        case link(from: ResourceReference, navigation: Property, to: ResourceReference)
        /// A DELETE of `$links`/`$ref`. `to` is set for collection-valued navigation properties only.
        case unlink(from: ResourceReference, navigation: Property, to: ResourceReference?)
        /// A call of an action, which change sets of V4 may contain (OData 4.01 Part 1, section 11.7.4). Its query
        /// options are not sent.
        indirect case invoke(OperationInvocation)
    }

    package var action: Action
    /// The value of the `If-Match` header.
    package var ifMatch: String?
    /// The app's headers for this request. They take precedence over those of the encoder.
    package var headers: HTTPHeaders
    /// The stream that is created or updated. The body consists of the stream's bytes, which the sender adds.
    package var stream: StreamHead?

    package init(_ action: Action, ifMatch: String? = nil, headers: HTTPHeaders = .empty) {
        self.action = action
        self.ifMatch = ifMatch
        self.headers = headers
    }
}

/// The properties of a stream in a request (OData 4.01 Part 1, sections 11.4.7 and 11.4.8).
package struct StreamHead: Sendable, Hashable {
    /// The stream property, or nil for the stream of a media entity.
    package var property: String?
    /// The media type, or nil to delete the stream.
    package var mediaType: String?
    /// The name of the new media entity, sent as `Slug`.
    package var name: String?
    /// The stream's edit link, absolute or relative to the service root. Nil if it follows from the entity's URL.
    package var editLink: String?

    package init(property: String? = nil, mediaType: String?, name: String? = nil, editLink: String? = nil) {
        self.property = property
        self.mediaType = mediaType
        self.name = name
        self.editLink = editLink
    }
}

/// The body of a create or update: values, links to existing entities, and entities to create along with it (deep
/// insert).
package struct EntityBody: Sendable, Hashable {
    package var type: EntityType
    /// The declared type of the request's target. If `type` is derived from it, the body contains its type.
    package var declaredType: EntityType?
    /// Structural and, for open types, dynamic properties.
    package var values: PropertyValues
    package var bindings: [Binding]
    package var inline: [InlineEntities]
    /// The `@Core.ContentID` of an entity inside of a V4 deep insert, which the response repeats.
    package var contentID: String?

    package init(
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
    package struct Binding: Sendable, Hashable {
        package var navigation: Property
        package var targets: [ResourceReference]

        package init(navigation: Property, targets: [ResourceReference]) {
            self.navigation = navigation
            self.targets = targets
        }
    }

    /// The new entities of one navigation property.
    package struct InlineEntities: Sendable, Hashable {
        package var navigation: Property
        package var entities: [EntityBody]

        package init(navigation: Property, entities: [EntityBody]) {
            self.navigation = navigation
            self.entities = entities
        }
    }
}
