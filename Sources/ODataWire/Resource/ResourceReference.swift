public import EDM

/// What a request addresses, or a link in a body points to: one entity, named in one of the ways that OData knows.
public enum ResourceReference: Sendable, Hashable {
    /// `Customers(1)`; the predicate is empty for a singleton.
    case entity(set: EntitySet, key: KeyPredicate)
    /// `$1`: the entity that the request with this Content-ID creates in the same change set.
    case contentID(String)
    /// A URL that the service handed out: an edit link or an entity-id, absolute or relative to the service root.
    case url(String)
}
