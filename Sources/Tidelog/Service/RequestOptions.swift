public import Operations

/// What a call asks for besides its effect. What decides when and how an operation is sent matters offline only.
public struct RequestOptions: Sendable, Hashable {
    public static let none = RequestOptions()

    /// The app's own mark: it comes back with the operation's status and with errors.
    public var customTag: String?

    /// Puts operations together: all that wait for the upload and have the same transactionID are sent in one change set, so
    /// that the service does all of them or none, whenever they were made. What one of them needs of the operations between
    /// them goes along. Where one of them has to wait, or was refused, all of them wait.
    ///
    /// Each operation takes effect here at once and has to be legal by itself, since nobody knows which one is the last. Use
    /// a ``ChangeSet`` where only all of them together are legal.
    public var transactionID: String?

    /// Sends the request exactly as it is made here: it is never combined with others, neither to spare requests nor to mend
    /// one that the service refused.
    public var unmodifiableRequest: Bool

    /// What ``OfflineODataProvider/upload(categories:)`` may choose the operation by.
    public var uploadCategory: UploadCategory?

    /// Whether the operation is sent with the next upload, when the app releases it
    /// (``OfflineODataProvider/release(_:)``), or never. One for all operations of a change set.
    public var delivery: Delivery

    /// Whether an update that changes nothing is sent all the same. Without it nothing is logged and nothing is sent.
    public var sendEmptyUpdate: Bool

    /// Asks the service not to repeat in its answer what was sent: `Prefer: return=minimal`.
    public var preferNoContent: Bool

    /// Headers with keys of entities in them, as `X-Order: {Orders(~7)/OrderID}`: a name, a colon, and a value in which a
    /// readLink or editLink and a key property of its entity stand in braces. The value is put together when the request is
    /// sent, with the key that the service gave; until it has given one the operation waits. `{{` and `}}` stand for braces.
    public var customHeaderTemplates: [String]

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

    /// What an upload may choose operations by.
    public enum UploadCategory: Sendable, Hashable {
        case named(String)
        /// The entity that the call creates. Only for calls that create one.
        case createdEntity
        /// The entity that the link leads to; see ``entity(_:)``.
        case entityLink(String)

        /// All that belongs to an entity which was created or read before. Nil where it has no link yet.
        public static func entity(_ entity: EntityValue) -> UploadCategory? {
            (entity.readLink ?? entity.editLink).map(UploadCategory.entityLink)
        }
    }
}
