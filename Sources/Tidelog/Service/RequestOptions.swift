public import Operations

/// Options of a modification. Those that control when and how it is sent apply offline only.
public struct RequestOptions: Sendable, Hashable {
    /// The default options.
    public static let none = RequestOptions()

    /// A tag set by the app. It is returned with the status and errors of the operation.
    public var customTag: String?

    /// The transaction of the operation. Pending operations with the same transactionID are sent in one change set,
    /// so that the service executes all or none of them.
    ///
    /// Operations between them that they depend on are sent along. If one of them is held or was rejected, all of
    /// them wait.
    ///
    /// Each operation takes effect locally at once and must be valid by itself, because the last operation of a
    /// transaction is not known in advance. Use a ``ChangeSet`` if only the combination is valid.
    public var transactionID: String?

    /// Whether the request is sent exactly as it was made. It is never combined with other requests, neither to save
    /// requests nor to amend a rejected one.
    public var unmodifiableRequest: Bool

    /// The category by which ``OfflineODataProvider/upload(categories:)`` can select the operation.
    public var uploadCategory: UploadCategory?

    /// Whether the operation is sent with the next upload, after the app releases it
    /// (``OfflineODataProvider/release(_:)``), or never. All operations of a change set have the same delivery.
    public var delivery: Delivery

    /// Whether an update without changes is sent. Otherwise nothing is logged or sent.
    public var sendEmptyUpdate: Bool

    /// Whether an update sends the changed properties, or all of them.
    public var updateMode: UpdateMode = .merge

    /// Whether the service is asked not to return the entity: `Prefer: return=minimal`.
    public var preferNoContent: Bool

    /// Headers that contain keys of entities, like `X-Order: {Orders(~7)/OrderID}`.
    ///
    /// A template is a name, a colon, and a value with placeholders. A placeholder contains a readLink or editLink, a
    /// slash and a key property of the entity. It is replaced when the request is sent, with the key that the service
    /// has assigned; until then the operation waits. `{{` and `}}` stand for braces.
    public var customHeaderTemplates: [String]

    /// Returns the ``transactionID`` of all operations that are about one entity, or `nil` for an entity that is not in
    /// a store.
    ///
    /// For an app that has no names of its own for its transactions: `options.transactionID =
    /// RequestOptions.transactionID(of: order)` for the operations on an order and its items.
    public static func transactionID(of entity: EntityValue) -> String? {
        entity.entityID.map { "entity:\($0.rawValue)" }
    }

    /// Creates options; by default the operation is sent with the next upload, without a tag and a transaction.
    public init(
        customTag: String? = nil, transactionID: String? = nil, unmodifiableRequest: Bool = false,
        uploadCategory: UploadCategory? = nil, delivery: Delivery = .queued, sendEmptyUpdate: Bool = false,
        preferNoContent: Bool = false, customHeaderTemplates: [String] = []
    ) {
        self.customTag = customTag
        self.transactionID = transactionID
        self.unmodifiableRequest = unmodifiableRequest
        self.uploadCategory = uploadCategory
        self.delivery = delivery
        self.sendEmptyUpdate = sendEmptyUpdate
        self.preferNoContent = preferNoContent
        self.customHeaderTemplates = customHeaderTemplates
    }

    /// The properties that an update sends.
    public enum UpdateMode: Sendable, Hashable {
        /// The properties that have changed since the entity was read. All further properties keep the values of the service.
        case merge
        /// All properties that can be written, so that the service has the values of this object whatever it had before.
        ///
        /// An unset property is sent with the default of the metadata, otherwise with null; an update in which a
        /// property is unset that cannot be null is refused. Links are not affected, nor are the dependent properties
        /// of their constraints, unless the object has changed them. The request is a PATCH with all properties, or a
        /// PUT for a service without PATCH.
        case replace
    }

    /// A category by which an upload can select operations.
    public enum UploadCategory: Sendable, Hashable {
        /// The category with this name.
        case named(String)
        /// The entity that the call creates. Only for calls that create one.
        case createdEntity
        /// The entity with the given link; see ``entity(_:)``.
        case entityLink(String)

        /// Returns the category of an existing entity, or `nil` if the entity has no link yet.
        public static func entity(_ entity: EntityValue) -> UploadCategory? {
            (entity.readLink ?? entity.editLink).map(UploadCategory.entityLink)
        }
    }
}
