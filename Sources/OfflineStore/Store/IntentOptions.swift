package import EDM
package import ODataWire
package import Operations

/// Options of an intent. For a request sent directly to a service, only headers, header templates, ``ifMatch``,
/// ``formerValues`` and the stream are used.
package struct IntentOptions: Sendable {
    /// The delivery, which has to be the same for a whole change set.
    package var delivery: Delivery
    /// A Boolean value that indicates whether an update without changes is sent.
    package var sendsEmptyUpdate: Bool
    /// Contains one element if there are rare options. A call has options for each intent, so they should be small.
    private var rare: [RareOptions] = []

    package init(
        headers: HTTPHeaders = .empty, headerTemplates: [HeaderDraft] = [], customTag: String? = nil,
        transactionID: String? = nil, ifMatch: String? = nil, isUnmodifiable: Bool = false,
        uploadCategory: CategoryDraft? = nil, delivery: Delivery = .queued, sendsEmptyUpdate: Bool = false,
        stream: StreamWrite? = nil
    ) {
        self.delivery = delivery
        self.sendsEmptyUpdate = sendsEmptyUpdate
        let isPlain =
            headers.fields.isEmpty && headerTemplates.isEmpty && customTag == nil && transactionID == nil
            && ifMatch == nil && !isUnmodifiable && uploadCategory == nil && stream == nil
        if isPlain { return }
        rare = [
            RareOptions(
                headers: headers, headerTemplates: headerTemplates, customTag: customTag,
                transactionID: transactionID, ifMatch: ifMatch, isUnmodifiable: isUnmodifiable,
                uploadCategory: uploadCategory, stream: stream)
        ]
    }
}

// MARK: Rare options

private struct RareOptions: Sendable {
    var headers = HTTPHeaders.empty
    var headerTemplates: [HeaderDraft] = []
    var customTag: String?
    var transactionID: String?
    var ifMatch: String?
    var formerValues: PropertyValues = [:]
    var isUnmodifiable = false
    var uploadCategory: CategoryDraft?
    var stream: StreamWrite?
    var streamContent: LocalStream?
    var streamLink: String?
    var sourceType: String?
}

extension IntentOptions {
    package var headers: HTTPHeaders {
        get { rare.first?.headers ?? .empty }
        set { setRare(\.headers, newValue) }
    }

    package var headerTemplates: [HeaderDraft] {
        get { rare.first?.headerTemplates ?? [] }
        set { setRare(\.headerTemplates, newValue) }
    }

    package var customTag: String? {
        get { rare.first?.customTag }
        set { setRare(\.customTag, newValue) }
    }

    /// The transaction. Operations with the same transactionID are sent in one change set.
    package var transactionID: String? {
        get { rare.first?.transactionID }
        set { setRare(\.transactionID, newValue) }
    }

    /// The ETag of the version that was changed. A store ignores it and uses its own.
    package var ifMatch: String? {
        get { rare.first?.ifMatch }
        set { setRare(\.ifMatch, newValue) }
    }

    /// The values before an update that contains complex values. A store ignores them and uses its own.
    package var formerValues: PropertyValues {
        get { rare.first?.formerValues ?? [:] }
        set { setRare(\.formerValues, newValue) }
    }

    /// A Boolean value that indicates whether the request must be sent without any modification.
    package var isUnmodifiable: Bool {
        get { rare.first?.isUnmodifiable ?? false }
        set { setRare(\.isUnmodifiable, newValue) }
    }

    package var uploadCategory: CategoryDraft? {
        get { rare.first?.uploadCategory }
        set { setRare(\.uploadCategory, newValue) }
    }

    /// The stream of a create or update, which then has no properties, bindings or new entities.
    package var stream: StreamWrite? {
        get { rare.first?.stream }
        set { setRare(\.stream, newValue) }
    }

    /// The bytes of ``stream``, for a service.
    package var streamContent: LocalStream? {
        get { rare.first?.streamContent }
        set { setRare(\.streamContent, newValue) }
    }

    /// The URL of ``stream`` for writing, for a service; nil if it follows from the entity's URL.
    package var streamLink: String? {
        get { rare.first?.streamLink }
        set { setRare(\.streamLink, newValue) }
    }

    /// The type of the existing entity that is changed, or whose navigation property the intent uses, if it is a derived
    /// type, for a service. A store has the type of each entity.
    package var sourceType: String? {
        get { rare.first?.sourceType }
        set { setRare(\.sourceType, newValue) }
    }

    private mutating func setRare<Option>(_ option: WritableKeyPath<RareOptions, Option>, _ value: Option) {
        var changed = rare.first ?? RareOptions()
        changed[keyPath: option] = value
        rare = [changed]
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
