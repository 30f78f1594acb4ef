public import EDM

/// An entity as a service represented it, V2 and V4 alike.
public struct EntityPayload: Sendable, Hashable {
    /// The qualified type name, where the payload says it or the context implies it; nil for the declared type.
    public var type: String?
    /// The entity-id (`@odata.id`, `__metadata.uri`), as written.
    public var id: String?
    public var readLink: String?
    public var editLink: String?
    public var etag: String?
    /// Structural properties and, for open types, dynamic ones. Only those that the payload holds.
    public var values: PropertyValues
    /// Navigation properties that came expanded.
    public var expanded: [Expanded]
    /// Navigation properties of which the payload holds the changes (4.01). Writers leave them out.
    public var changes: [NavigationDelta] = []
    /// The entity set, or the path of a contained collection as `Orders(1)/Items`, that an item of a collection names in a
    /// context of its own. It may be another than the collection's: deltas of 4.0 hold related entities side by side.
    /// Writers leave it out.
    public var set: String?
    /// V2: the navigation properties to be written as links. nil: all that did not come expanded. Not filled by readers.
    public var deferred: [String]?
    public var mediaReadLink: String?
    public var mediaEditLink: String?
    public var mediaContentType: String?
    public var mediaETag: String?
    /// What the payload says of its stream properties (V4).
    public var namedStreams: [NamedStream] = []
    /// What the request marked the entity with, inside of a deep insert (`@Core.ContentID`).
    public var contentID: String?
    /// Properties of the payload that a closed type does not declare; their values are not kept.
    public var ignored: [String] = []

    public init(
        type: String? = nil, id: String? = nil, readLink: String? = nil, editLink: String? = nil, etag: String? = nil,
        values: PropertyValues = [:], expanded: [Expanded] = []
    ) {
        self.type = type
        self.id = id
        self.readLink = readLink
        self.editLink = editLink
        self.etag = etag
        self.values = values
        self.expanded = expanded
    }

    /// The addresses and the ETag of a stream property's content (OData JSON 4.01, 9).
    public struct NamedStream: Sendable, Hashable {
        public var property: String
        public var readLink: String?
        public var editLink: String?
        public var etag: String?

        public init(property: String, readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
            self.property = property
            self.readLink = readLink
            self.editLink = editLink
            self.etag = etag
        }
    }

    /// What came below one expanded navigation property.
    public struct Expanded: Sendable, Hashable {
        public var navigation: String
        /// One or none for a single-valued property.
        public var entities: [EntityPayload]
        /// Set where the service sent only part of a collection.
        public var nextLink: String?

        public init(navigation: String, entities: [EntityPayload], nextLink: String? = nil) {
            self.navigation = navigation
            self.entities = entities
            self.nextLink = nextLink
        }
    }
}

/// One page of a collection of entities.
public struct FeedPayload: Sendable, Hashable {
    public var entities: [EntityPayload]
    /// `@odata.count` or `__count`.
    public var count: Int64?
    public var nextLink: String?
    public var deltaLink: String?
    /// What else a delta holds: removed entities, added and deleted links, and entities of other sets. An entity may come
    /// several times in a delta, and then the order decides, which only ``FeedReader`` tells. Writers leave them out.
    public var removed: [RemovedEntity] = []
    public var links: [LinkChange] = []
    public var otherEntities: [EntityPayload] = []

    public init(entities: [EntityPayload], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil) {
        self.entities = entities
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
    }
}

/// What a service said when it refused (OData JSON 4.01, section 21; the V2 form likewise).
public struct ServiceError: Sendable, Hashable {
    public var code: String
    public var message: String
    public var target: String?
    /// Which request of a change set it is about (`Core.ContentID`), where the service says so.
    public var contentID: String?
    public var details: [Detail]
    /// The inner error as raw JSON, for whoever has to find out.
    public var innerError: String?

    public struct Detail: Sendable, Hashable {
        public var code: String
        public var message: String
        public var target: String?
        public var contentID: String?

        public init(code: String, message: String, target: String? = nil, contentID: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
            self.contentID = contentID
        }
    }

    public init(code: String, message: String, target: String? = nil, details: [Detail] = [], innerError: String? = nil)
    {
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.innerError = innerError
    }
}
