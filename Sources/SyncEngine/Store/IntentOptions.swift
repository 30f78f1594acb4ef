public import ODataWire
public import Operations

/// What comes with an intent besides itself. To a service directly only headers and ``ifMatch`` matter.
public struct IntentOptions: Sendable {
    public var headers: HTTPHeaders
    public var headerTemplates: [HeaderDraft]
    public var customTag: String?
    /// Operations with one transactionID travel to the service in one change set.
    public var transactionID: String?
    /// The ETag of the version that the change was made on. A store knows it better and does not look here.
    public var ifMatch: String?
    /// Whether the request has to be sent exactly as it is made here.
    public var isUnmodifiable: Bool
    public var uploadCategory: CategoryDraft?
    /// The same for all of a change set.
    public var delivery: Delivery
    /// Whether an update that changes nothing is sent all the same.
    public var sendsEmptyUpdate: Bool
    /// Makes a create or update one of a stream; it has no properties, bindings and new entities then.
    public var stream: StreamWrite?

    public init(
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

/// An upload category before it is known which entity its address means.
public enum CategoryDraft: Sendable, Hashable {
    case named(String)
    case entity(EntityAddress)
    /// The entity that the intent creates.
    case created
}

/// A header whose value has keys of entities in it, before it is known which entities its addresses mean.
public struct HeaderDraft: Sendable, Hashable {
    public var name: String
    public var parts: [Part]

    public enum Part: Sendable, Hashable {
        case text(String)
        /// The value of a key property.
        case key(EntityAddress, property: String)
    }

    public init(name: String, parts: [Part]) {
        self.name = name
        self.parts = parts
    }
}
