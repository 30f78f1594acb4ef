package import EDM

/// An item of a delta: a change since the request that returned the delta link. Items are in the order of occurrence.
///
/// A page without delta contains entities only.
package enum DeltaItem: Sendable, Hashable {
    /// An added or changed entity. A changed one may contain only the changes.
    case entity(EntityPayload)
    case removed(RemovedEntity)
    /// A link change. Occurs only in the flat deltas of 4.0; 4.01 uses ``EntityPayload/changes`` instead.
    case link(LinkChange)
    /// An unreadable entity. Occurs only if the reader sets such entities aside; see ``PayloadReader/setsAside``.
    case unreadable(UnreadableEntity)

    // Functions of this module, because elsewhere an access to each item copies all its parts. They use the span of a
    // slice, because that of an array needs macOS 26.

    /// Returns the indices of the entities with related entities or changes of them.
    package static func indicesWithRelated(in items: [DeltaItem]) -> [Int] {
        let slice = items[...]
        let items = slice.span
        var found: [Int] = []
        for place in items.indices where items[place].hasRelated { found.append(place) }
        return found
    }

    /// Calls `body` with the type and the values of each entity without a set of its own, and with nil for any other item.
    package static func forEachContent<Failure: Error>(
        of items: [DeltaItem], _ body: ((type: String?, values: PropertyValues)?) throws(Failure) -> Void
    ) throws(Failure) {
        let slice = items[...]
        let items = slice.span
        for place in items.indices { try body(items[place].ownContent) }
    }

    /// Returns the item with a type. An entity with a type or a set of its own, and any other item, is unchanged.
    package func declared(as type: String) -> DeltaItem {
        guard case .entity(var payload) = self, payload.type == nil, payload.set == nil else { return self }
        payload.type = type
        return .entity(payload)
    }

    /// Returns the item with the type of the navigation property that leads to it; see
    /// ``EntityPayload/declare(_:)``.
    package func declared(by target: EntityType) -> DeltaItem {
        guard case .entity(var payload) = self, target.baseType != nil else { return self }
        payload.declare(target)
        return .entity(payload)
    }

    /// Whether the item is an entity with related entities or changes of them. Does not copy the item.
    private var hasRelated: Bool {
        switch self {
        case .entity(let payload): !payload.expanded.isEmpty || !payload.changes.isEmpty
        default: false
        }
    }

    private var ownContent: (type: String?, values: PropertyValues)? {
        switch self {
        case .entity(let payload) where payload.set == nil: (payload.type, payload.values)
        default: nil
        }
    }
}

/// An entity that a delta reports as removed.
///
/// V2 has no form for removed entities: Olingo uses that of 4.0, and SAP's gateways report none in JSON.
package struct RemovedEntity: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable {
        /// The entity no longer exists.
        case deleted
        /// The entity no longer belongs to the result of the request, or to the collection that contains it.
        case changed
    }

    /// The content of the item: the entity-id, the key, or both. 4.01 may also include other properties and changes of
    /// related entities.
    package var entity: EntityPayload
    /// The reason, or nil if the service does not state it.
    package var reason: Reason?

    package init(entity: EntityPayload, reason: Reason? = nil) {
        self.entity = entity
        self.reason = reason
    }
}

/// A link that a delta of 4.0 reports as added or deleted.
package struct LinkChange: Sendable, Hashable {
    package var isAdded: Bool
    /// The entity set of the source, if the item's context contains it; see ``EntityPayload/set``.
    package var set: String?
    /// The entity-id of the source, as written.
    package var source: String
    /// The navigation property, or the path to it through complex properties and type casts.
    package var relationship: String
    /// The entity-id of the target, as written. A deleted link of a single-valued property may omit it.
    package var target: String?

    package init(isAdded: Bool, set: String? = nil, source: String, relationship: String, target: String?) {
        self.isAdded = isAdded
        self.set = set
        self.source = source
        self.relationship = relationship
        self.target = target
    }
}

/// The changes of one navigation property of an entity (4.01).
///
/// In contrast to ``EntityPayload/Expanded``, entities that it does not mention remain linked.
package struct NavigationDelta: Sendable, Hashable {
    package var navigation: String
    /// Entities that are now linked, and removed ones that no longer are. For a single-valued property, the removed
    /// entity. ``RemovedEntity/Reason/deleted`` means that the entity does not exist any more either.
    package var items: [DeltaItem]
    /// The link to the remaining changes, if the service sent only a part of them.
    package var nextLink: String?

    package init(navigation: String, items: [DeltaItem], nextLink: String? = nil) {
        self.navigation = navigation
        self.items = items
        self.nextLink = nextLink
    }
}

extension EntityPayload {
    /// Sets the type of an entity without one to the type of the navigation property that leads to it, which may be
    /// derived from that of the entity's set.
    package mutating func declare(_ target: EntityType) {
        if type == nil, target.baseType != nil { type = target.name }
    }
}
