public import EDM

/// What a request addresses, or a link in a body points to: one entity, named in one of the ways that OData knows.
public indirect enum ResourceReference: Sendable, Hashable {
    /// `Customers(1)`; the predicate is empty for a singleton.
    case entity(set: EntitySet, key: KeyPredicate)
    /// `$1`: the entity that the request with this Content-ID creates in the same change set.
    case contentID(String)
    /// A URL that the service handed out: an edit link or an entity-id, absolute or relative to the service root.
    case url(String)
    /// `People('ann')/Trips(0)`: an entity that another one contains. The predicate is nil where the navigation property
    /// leads to one entity.
    case contained(in: ResourceReference, by: Property, key: KeyPredicate?)
    /// `People('ann')/Service.Employee`: the entity as one of a derived type, which has more properties.
    case cast(ResourceReference, to: String)

    /// What the URL begins with: the entity itself where no other one contains it.
    public var root: ResourceReference {
        switch self {
        case .entity, .contentID, .url: self
        case .contained(let parent, _, _): parent.root
        case .cast(let entity, _): entity.root
        }
    }

    /// Whether the URL begins with what another request of the same change set creates.
    public var isBelowContentID: Bool { contentID != nil }

    /// The Content-ID that the URL begins with; nil for what the service has already.
    public var contentID: String? { if case .contentID(let id) = root { id } else { nil } }
}
