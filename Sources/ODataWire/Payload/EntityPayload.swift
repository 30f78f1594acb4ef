public import EDM

/// An entity as a service represented it, V2 and V4 alike.
///
/// What few entities have lies apart, in a box that those without it do not have: a page's entities are handed on one by one.
public struct EntityPayload: Sendable, Hashable {
    /// The qualified type name, where the payload says it or the context implies it; nil for the declared type.
    public var type: String?
    public var etag: String?
    /// Structural properties and, for open types, dynamic ones. Only those that the payload holds.
    public var values: PropertyValues
    /// Navigation properties that came expanded.
    public var expanded: [Expanded]
    /// One at most; none where it would say nothing.
    private var rest: [Rest] = []

    private struct Rest: Sendable, Hashable {
        var id: String?
        var readLink: String?
        var editLink: String?
        var changes: [NavigationDelta] = []
        var set: String?
        var deferred: [String]?
        var mediaReadLink: String?
        var mediaEditLink: String?
        var mediaContentType: String?
        var mediaETag: String?
        var namedStreams: [NamedStream] = []
        var contentID: String?
        var ignored: [String] = []
    }

    private mutating func put<T: Equatable>(_ value: T, _ change: (inout Rest, T) -> Void, none: T) {
        if rest.isEmpty {
            guard value != none else { return }
            rest.append(Rest())
        }
        change(&rest[0], value)
        if value == none, rest[0] == Rest() { rest = [] }
    }

    /// The entity-id (`@odata.id`, `__metadata.uri`), as written.
    public var id: String? {
        get { rest.isEmpty ? nil : rest[0].id }
        set { put(newValue, { $0.id = $1 }, none: nil) }
    }
    public var readLink: String? {
        get { rest.isEmpty ? nil : rest[0].readLink }
        set { put(newValue, { $0.readLink = $1 }, none: nil) }
    }
    public var editLink: String? {
        get { rest.isEmpty ? nil : rest[0].editLink }
        set { put(newValue, { $0.editLink = $1 }, none: nil) }
    }
    /// Navigation properties of which the payload holds the changes (4.01). Writers leave them out.
    public var changes: [NavigationDelta] {
        get { rest.isEmpty ? [] : rest[0].changes }
        set { put(newValue, { $0.changes = $1 }, none: []) }
    }
    /// The entity set, or the path of a contained collection as `Orders(1)/Items`, that an item of a collection names in a
    /// context of its own. It may be another than the collection's: deltas of 4.0 hold related entities side by side.
    /// Writers leave it out.
    public var set: String? {
        get { rest.isEmpty ? nil : rest[0].set }
        set { put(newValue, { $0.set = $1 }, none: nil) }
    }
    /// V2: the navigation properties to be written as links. nil: all that did not come expanded. Not filled by readers.
    public var deferred: [String]? {
        get { rest.isEmpty ? nil : rest[0].deferred }
        set { put(newValue, { $0.deferred = $1 }, none: nil) }
    }
    public var mediaReadLink: String? {
        get { rest.isEmpty ? nil : rest[0].mediaReadLink }
        set { put(newValue, { $0.mediaReadLink = $1 }, none: nil) }
    }
    public var mediaEditLink: String? {
        get { rest.isEmpty ? nil : rest[0].mediaEditLink }
        set { put(newValue, { $0.mediaEditLink = $1 }, none: nil) }
    }
    public var mediaContentType: String? {
        get { rest.isEmpty ? nil : rest[0].mediaContentType }
        set { put(newValue, { $0.mediaContentType = $1 }, none: nil) }
    }
    public var mediaETag: String? {
        get { rest.isEmpty ? nil : rest[0].mediaETag }
        set { put(newValue, { $0.mediaETag = $1 }, none: nil) }
    }
    /// What the payload says of its stream properties (V4).
    public var namedStreams: [NamedStream] {
        get { rest.isEmpty ? [] : rest[0].namedStreams }
        set { put(newValue, { $0.namedStreams = $1 }, none: []) }
    }
    /// What the request marked the entity with, inside of a deep insert (`@Core.ContentID`).
    public var contentID: String? {
        get { rest.isEmpty ? nil : rest[0].contentID }
        set { put(newValue, { $0.contentID = $1 }, none: nil) }
    }
    /// Properties of the payload that a closed type does not declare; their values are not kept.
    public var ignored: [String] {
        get { rest.isEmpty ? [] : rest[0].ignored }
        set { put(newValue, { $0.ignored = $1 }, none: []) }
    }

    public init(
        type: String? = nil, id: String? = nil, readLink: String? = nil, editLink: String? = nil, etag: String? = nil,
        values: PropertyValues = [:], expanded: [Expanded] = []
    ) {
        self.type = type
        self.etag = etag
        self.values = values
        self.expanded = expanded
        guard id != nil || readLink != nil || editLink != nil else { return }
        rest = [Rest(id: id, readLink: readLink, editLink: editLink)]
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
        /// What came among the entities and cannot be read; only where the reader sets it aside.
        public var unreadable: [UnreadableEntity] = []

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
    /// What cannot be read; only where the reader sets it aside.
    public var unreadable: [UnreadableEntity] = []

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
