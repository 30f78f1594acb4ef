public import EDM
public import ODataWire
public import Operations

/// What an app wants done, before it is known which entities its addresses mean. The same for a store and for a service.
public enum Intent: Sendable {
    case create(EntityDraft, in: Parent?)
    case update(EntityAddress, changes: PropertyValues, bindings: [BindingDraft], inline: [InlineDraft])
    case delete(EntityAddress)
    case createLink(from: EntityAddress, navigation: String, to: EntityAddress)
    case updateLink(from: EntityAddress, navigation: String, to: EntityAddress)
    /// `to` may be nil for a single-valued navigation property.
    case deleteLink(from: EntityAddress, navigation: String, to: EntityAddress?)

    public struct Parent: Sendable {
        public var entity: EntityAddress
        public var navigation: String

        public init(entity: EntityAddress, navigation: String) {
            self.entity = entity
            self.navigation = navigation
        }
    }
}

/// How an app names an entity.
public enum EntityAddress: Sendable, Hashable {
    /// A readLink or editLink, as it was handed out at any time.
    case link(String)
    /// The store's permanent name of an entity. A service does not know it.
    case id(EntityID)
    /// A new entity of the same call.
    case draft(Int)
    /// An entity whose key properties have been set.
    case key(set: String, KeyPredicate)
}

/// A new entity.
public struct EntityDraft: Sendable {
    /// Names the draft within one call.
    public var number: Int
    public var set: String
    public var type: String
    public var values: PropertyValues
    public var bindings: [BindingDraft]
    public var inline: [InlineDraft]

    public init(
        number: Int, set: String, type: String, values: PropertyValues, bindings: [BindingDraft] = [],
        inline: [InlineDraft] = []
    ) {
        self.number = number
        self.set = set
        self.type = type
        self.values = values
        self.bindings = bindings
        self.inline = inline
    }
}

public struct BindingDraft: Sendable {
    public var navigation: String
    public var targets: [EntityAddress]

    public init(navigation: String, targets: [EntityAddress]) {
        self.navigation = navigation
        self.targets = targets
    }
}

public struct InlineDraft: Sendable {
    public var navigation: String
    public var entities: [EntityDraft]

    public init(navigation: String, entities: [EntityDraft]) {
        self.navigation = navigation
        self.entities = entities
    }
}

/// What became of an intent: the operation's sequence number, or that of the undo that took its place (offline), and the entities that it made or changed.
public struct IntentResult: Sendable {
    public var sequence: SequenceNumber?
    /// The new entities by the number of their draft; for an update or a link the entity in question under -1.
    public var entities: [Int: EntitySnapshot]
    /// What the service says of the changed entity's version where it says nothing else of it.
    public var etag: String?

    public init(sequence: SequenceNumber? = nil, entities: [Int: EntitySnapshot] = [:]) {
        self.sequence = sequence
        self.entities = entities
    }

    /// The number under which the changed entity of an update or link is found.
    public static let subject = -1
}

/// An entity as it was read: a copy that does not change.
public struct EntitySnapshot: Sendable, Hashable {
    public var set: String
    public var type: String
    public var values: PropertyValues
    public var etag: String?
    public var readLink: String
    public var editLink: String
    /// nil for an entity read from a service.
    public var entityID: EntityID?
    public var state: State
    /// Whether it was created or changed here and the service does not know that yet (`sap.islocal()`).
    public var isLocal = false
    /// In an expansion: whether the link that led here was made here and the service does not know it yet.
    public var isFromLocalRelationship = false
    public var expanded: [Expanded]

    public enum State: String, Sendable, Hashable {
        /// As the service last said.
        case clean
        /// Operations on it wait for an upload.
        case pending
        /// The service refused an operation on it.
        case error
    }

    public struct Expanded: Sendable, Hashable {
        public var navigation: String
        public var entities: [EntitySnapshot]
        /// How many there are without `$top` and `$skip`, where that was asked for.
        public var count: Int64?
        /// Whole entities, links only (they have no values), or nothing but the ``count``.
        public var form: ExpandItem.Form

        public init(
            navigation: String, entities: [EntitySnapshot], count: Int64? = nil, form: ExpandItem.Form = .entities
        ) {
            self.navigation = navigation
            self.entities = entities
            self.count = count
            self.form = form
        }
    }

    public init(
        set: String, type: String, values: PropertyValues, etag: String? = nil, readLink: String, editLink: String,
        entityID: EntityID? = nil, state: State = .clean, expanded: [Expanded] = []
    ) {
        self.set = set
        self.type = type
        self.values = values
        self.etag = etag
        self.readLink = readLink
        self.editLink = editLink
        self.entityID = entityID
        self.state = state
        self.expanded = expanded
    }
}
