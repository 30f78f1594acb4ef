/// One item of a delta: what has happened since the request that the delta link came from, in the order of occurrence.
///
/// A page without delta has entities only.
public enum DeltaItem: Sendable, Hashable {
    /// An added or changed entity. A changed one may hold no more than what has changed.
    case entity(EntityPayload)
    case removed(RemovedEntity)
    /// Only in the flat deltas of 4.0; 4.01 says the same with ``EntityPayload/changes``.
    case link(LinkChange)
    /// Only where the reader sets aside what it cannot read; see ``PayloadReader/setsAside``.
    case unreadable(UnreadableEntity)
}

/// An entity that a delta reports as gone.
///
/// V2 has no form for it: Olingo writes that of 4.0, and SAP's gateways report none in JSON.
public struct RemovedEntity: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable {
        /// It exists no more.
        case deleted
        /// It is no longer part of what was asked for, or of the collection that it stands in.
        case changed
    }

    /// What the delta says of it: its entity-id or its key, or both. 4.01 may also say other properties, and what became of
    /// related entities.
    public var entity: EntityPayload
    /// nil: the service does not say.
    public var reason: Reason?

    public init(entity: EntityPayload, reason: Reason? = nil) {
        self.entity = entity
        self.reason = reason
    }
}

/// A link that a delta of 4.0 reports as added or deleted.
public struct LinkChange: Sendable, Hashable {
    public var isAdded: Bool
    /// The set of the source, where the item's context names it; like ``EntityPayload/set``.
    public var set: String?
    /// The entity-id of the source, as written.
    public var source: String
    /// The navigation property, or the path to it through complex properties and type casts.
    public var relationship: String
    /// The entity-id of the target, as written. A deleted link of a single-valued property may come without.
    public var target: String?

    public init(isAdded: Bool, set: String? = nil, source: String, relationship: String, target: String?) {
        self.isAdded = isAdded
        self.set = set
        self.source = source
        self.relationship = relationship
        self.target = target
    }
}

/// What has changed about one navigation property of an entity (4.01): in contrast to ``EntityPayload/Expanded``, what it
/// does not mention is still linked.
public struct NavigationDelta: Sendable, Hashable {
    public var navigation: String
    /// Entities that are linked now, and removed ones that are not any more; for a single-valued property the removed
    /// entity. ``RemovedEntity/Reason/deleted`` says that it exists no more either.
    public var items: [DeltaItem]
    /// Set where the service sent only part of the changes.
    public var nextLink: String?

    public init(navigation: String, items: [DeltaItem], nextLink: String? = nil) {
        self.navigation = navigation
        self.items = items
        self.nextLink = nextLink
    }
}
