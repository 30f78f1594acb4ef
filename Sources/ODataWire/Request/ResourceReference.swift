package import EDM
package import ODataQuery

/// A reference to one entity, as the target of a request or of a link in a body.
package indirect enum ResourceReference: Sendable, Hashable {
    /// `Customers(1)`; the predicate is empty for a singleton.
    case entity(set: EntitySet, key: KeyPredicate)
    /// `$1`: the entity that the request with this Content-ID creates in the same change set.
    case contentID(String)
    /// A URL from the service: an edit link or an entity-id, absolute or relative to the service root.
    case url(String)
    /// `People('ann')/Trips(0)`: a contained entity. The predicate is nil if the navigation property is single-valued.
    case contained(in: ResourceReference, by: Property, key: KeyPredicate?)
    /// `People('ann')/Service.Employee`: the entity cast to a derived type, which has more properties.
    case cast(ResourceReference, to: String)

    /// The beginning of the URL: the outermost container, or the entity itself if it is not contained.
    package var root: ResourceReference {
        switch self {
        case .entity, .contentID, .url: self
        case .contained(let parent, _, _): parent.root
        case .cast(let entity, _): entity.root
        }
    }

    /// Returns a reference whose URL can continue with the property of the entity: if the declared type of the entity's
    /// set does not have the property, it is cast to the type that does.
    package func having(_ property: Property, in set: EntitySet, version: ODataVersion) -> ResourceReference {
        guard version.hasTypeSegments, let cast = set.cast(for: property) else { return self }
        return .cast(self, to: cast)
    }

    /// Whether the URL begins with an entity that a request of the same change set creates.
    package var isBelowContentID: Bool { contentID != nil }

    /// The Content-ID at the beginning of the URL, or nil for existing entities.
    package var contentID: String? { if case .contentID(let id) = root { id } else { nil } }
}
