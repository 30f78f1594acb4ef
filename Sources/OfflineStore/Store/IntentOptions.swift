package import ODataWire
package import Operations

/// Options of an intent. For a request sent directly to a service, only headers, header templates, ``ifMatch`` and the
/// stream are used.
package struct IntentOptions: Sendable {
    package var headers: HTTPHeaders
    package var headerTemplates: [HeaderDraft]
    package var customTag: String?
    /// The transaction. Operations with the same transactionID are sent in one change set.
    package var transactionID: String?
    /// The ETag of the version that was changed. A store ignores it and uses its own.
    package var ifMatch: String?
    /// A Boolean value that indicates whether the request must be sent without any modification.
    package var isUnmodifiable: Bool
    package var uploadCategory: CategoryDraft?
    /// The delivery, which has to be the same for a whole change set.
    package var delivery: Delivery
    /// A Boolean value that indicates whether an update without changes is sent.
    package var sendsEmptyUpdate: Bool
    /// The stream of a create or update, which then has no properties, bindings or new entities.
    package var stream: StreamWrite?
    /// The bytes of ``stream``, for a service.
    package var streamContent: LocalStream?
    /// The URL of ``stream`` for writing, for a service; nil if it follows from the entity's URL.
    package var streamLink: String?

    package init(
        headers: HTTPHeaders = .empty, headerTemplates: [HeaderDraft] = [], customTag: String? = nil,
        transactionID: String? = nil, ifMatch: String? = nil, isUnmodifiable: Bool = false,
        uploadCategory: CategoryDraft? = nil, delivery: Delivery = .queued, sendsEmptyUpdate: Bool = false,
        stream: StreamWrite? = nil
    ) {
        self.headers = headers
        self.headerTemplates = headerTemplates
        self.customTag = customTag
        self.transactionID = transactionID
        self.ifMatch = ifMatch
        self.isUnmodifiable = isUnmodifiable
        self.uploadCategory = uploadCategory
        self.delivery = delivery
        self.sendsEmptyUpdate = sendsEmptyUpdate
        self.stream = stream
    }
}

/// An upload category before its address is resolved to an entity.
package enum CategoryDraft: Sendable, Hashable {
    case named(String)
    case entity(EntityAddress)
    /// The entity that the intent creates.
    case created
}

/// A header that contains keys of entities, before their addresses are resolved.
package struct HeaderDraft: Sendable, Hashable {
    package var name: String
    package var parts: [ValuePart]

    package enum ValuePart: Sendable, Hashable {
        case text(String)
        /// The value of a key property.
        case key(EntityAddress, property: String)
    }

    package init(name: String, parts: [ValuePart]) {
        self.name = name
        self.parts = parts
    }
}
