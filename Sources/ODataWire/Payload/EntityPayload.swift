package import EDM

/// An entity in the representation of a service, for V2 and V4.
///
/// Rarely used parts are stored in a separate box that most entities do not allocate, because the entities of a page
/// are passed on one by one.
package struct EntityPayload: Sendable, Hashable {
    @usableFromInline var storedType: OptionalText
    @usableFromInline var storedETag: OptionalText
    /// Structural properties and, for open types, dynamic ones. Contains only the properties in the payload.
    package var values: PropertyValues
    /// The expanded navigation properties.
    package var expanded: [Expanded]
    /// The rarely used parts: at most one element, and none if it would be empty.
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

    /// The qualified type name in the payload or its context, or nil for the declared type.
    @inlinable package var type: String? {
        get { storedType.text }
        set { storedType = OptionalText(newValue) }
    }

    @inlinable package var etag: String? {
        get { storedETag.text }
        set { storedETag = OptionalText(newValue) }
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
    package var id: String? {
        get { rest.isEmpty ? nil : rest[0].id }
        set { put(newValue, { $0.id = $1 }, none: nil) }
    }
    package var readLink: String? {
        get { rest.isEmpty ? nil : rest[0].readLink }
        set { put(newValue, { $0.readLink = $1 }, none: nil) }
    }
    package var editLink: String? {
        get { rest.isEmpty ? nil : rest[0].editLink }
        set { put(newValue, { $0.editLink = $1 }, none: nil) }
    }
    /// The navigation properties for which the payload contains changes (4.01). Ignored by writers.
    package var changes: [NavigationDelta] {
        get { rest.isEmpty ? [] : rest[0].changes }
        set { put(newValue, { $0.changes = $1 }, none: []) }
    }
    /// The entity set, or the path of a contained collection such as `Orders(1)/Items`, in an item's own context.
    ///
    /// It may differ from that of the collection: deltas of 4.0 contain related entities as items of their own. Ignored
    /// by writers.
    package var set: String? {
        get { rest.isEmpty ? nil : rest[0].set }
        set { put(newValue, { $0.set = $1 }, none: nil) }
    }
    /// V2: the navigation properties to write as links. Nil: all that are not expanded. Not set by readers.
    package var deferred: [String]? {
        get { rest.isEmpty ? nil : rest[0].deferred }
        set { put(newValue, { $0.deferred = $1 }, none: nil) }
    }
    package var mediaReadLink: String? {
        get { rest.isEmpty ? nil : rest[0].mediaReadLink }
        set { put(newValue, { $0.mediaReadLink = $1 }, none: nil) }
    }
    package var mediaEditLink: String? {
        get { rest.isEmpty ? nil : rest[0].mediaEditLink }
        set { put(newValue, { $0.mediaEditLink = $1 }, none: nil) }
    }
    package var mediaContentType: String? {
        get { rest.isEmpty ? nil : rest[0].mediaContentType }
        set { put(newValue, { $0.mediaContentType = $1 }, none: nil) }
    }
    package var mediaETag: String? {
        get { rest.isEmpty ? nil : rest[0].mediaETag }
        set { put(newValue, { $0.mediaETag = $1 }, none: nil) }
    }
    /// The stream properties in the payload (V4).
    package var namedStreams: [NamedStream] {
        get { rest.isEmpty ? [] : rest[0].namedStreams }
        set { put(newValue, { $0.namedStreams = $1 }, none: []) }
    }
    /// The identifier that the request assigned to the entity inside of a deep insert (`@Core.ContentID`).
    package var contentID: String? {
        get { rest.isEmpty ? nil : rest[0].contentID }
        set { put(newValue, { $0.contentID = $1 }, none: nil) }
    }
    /// Properties in the payload that a closed type does not declare. Their values are discarded.
    package var ignored: [String] {
        get { rest.isEmpty ? [] : rest[0].ignored }
        set { put(newValue, { $0.ignored = $1 }, none: []) }
    }

    package init(
        type: String? = nil, id: String? = nil, readLink: String? = nil, editLink: String? = nil, etag: String? = nil,
        values: PropertyValues = [:], expanded: [Expanded] = []
    ) {
        storedType = OptionalText(type)
        storedETag = OptionalText(etag)
        self.values = values
        self.expanded = expanded
        guard id != nil || readLink != nil || editLink != nil else { return }
        rest = [Rest(id: id, readLink: readLink, editLink: editLink)]
    }

    /// The URLs and the ETag of a stream property (OData JSON 4.01, 9).
    package struct NamedStream: Sendable, Hashable {
        package var property: String
        package var readLink: String?
        package var editLink: String?
        package var etag: String?

        package init(property: String, readLink: String? = nil, editLink: String? = nil, etag: String? = nil) {
            self.property = property
            self.readLink = readLink
            self.editLink = editLink
            self.etag = etag
        }
    }

    /// The content of one expanded navigation property.
    package struct Expanded: Sendable, Hashable {
        package var navigation: String
        /// The entities. At most one for a single-valued property.
        package var entities: [EntityPayload]
        /// The link to the remaining entities, if the service sent only a part of the collection.
        package var nextLink: String?
        /// Unreadable entities of the collection. Filled only if the reader sets them aside.
        package var unreadable: [UnreadableEntity] = []

        package init(navigation: String, entities: [EntityPayload], nextLink: String? = nil) {
            self.navigation = navigation
            self.entities = entities
            self.nextLink = nextLink
        }
    }
}

/// One page of a collection of entities.
package struct FeedPayload: Sendable, Hashable {
    package var entities: [EntityPayload]
    /// The value of `@odata.count` or `__count`.
    package var count: Int64?
    package var nextLink: String?
    package var deltaLink: String?
    /// The other items of a delta: removed entities, added and deleted links, and entities of other sets.
    ///
    /// An entity may occur several times in a delta. Then the order matters, which only ``FeedReader`` preserves.
    /// Ignored by writers.
    package var removed: [RemovedEntity] = []
    package var links: [LinkChange] = []
    package var otherEntities: [EntityPayload] = []
    /// Unreadable entities. Filled only if the reader sets them aside.
    package var unreadable: [UnreadableEntity] = []

    package init(entities: [EntityPayload], count: Int64? = nil, nextLink: String? = nil, deltaLink: String? = nil) {
        self.entities = entities
        self.count = count
        self.nextLink = nextLink
        self.deltaLink = deltaLink
    }
}

/// The error response of a service (OData JSON 4.01, section 21; the V2 form likewise).
package struct ServiceError: Sendable, Hashable {
    package var code: String
    package var message: String
    package var target: String?
    /// The request of a change set that the error refers to (`Core.ContentID`), if the service identifies it.
    package var contentID: String?
    package var details: [Detail]
    /// The inner error as raw JSON, for diagnosis.
    package var innerError: String?

    package struct Detail: Sendable, Hashable {
        package var code: String
        package var message: String
        package var target: String?
        package var contentID: String?

        package init(code: String, message: String, target: String? = nil, contentID: String? = nil) {
            self.code = code
            self.message = message
            self.target = target
            self.contentID = contentID
        }
    }

    package init(
        code: String, message: String, target: String? = nil, details: [Detail] = [], innerError: String? = nil
    ) {
        self.code = code
        self.message = message
        self.target = target
        self.details = details
        self.innerError = innerError
    }
}
