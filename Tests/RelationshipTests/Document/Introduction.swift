extension RelationshipsDocument {
    /// Returns the introduction of the page.
    ///
    /// - Parameters:
    ///   - v2: The bytes of a whole V2 batch.
    ///   - v4: The bytes of a whole V4 batch.
    static func introduction(v2: String, v4: String) -> String {
        """
        # Relationships

        For app developers and developers of the engine: which changes a store allows on the six kinds of \
        relationship, and the exact requests that an upload then sends. The tests generate this page from their table. \
        `Tests/RelationshipTests` runs each line of it, in V2 and in V4, against a service with rules of its own, and \
        checks both ends before the upload, after it, and after a download. Do not edit this page; run \
        `TIDELOG_WRITE_DOCS=1 swift test --filter RelationshipTests`.

        ## Rules

        - **Multiplicity decides.** An end with multiplicity 1 is never empty. It does not matter whether the property \
        that names the partner is nullable: `Cars.OwnerID` is, and a car still has an owner.
        - **A refused change has no effect.** The store refuses it before anything is logged. The error names the \
        entity, the property and the rule, and describes a permitted alternative.
        - **A change set is checked at its end.** Within it any end may be empty for a while: two cars exchange their \
        owners, a city is deleted with its mayor.
        - **A single-valued end holds at most one partner.** A new link replaces the old one, visible from both ends \
        at once. The replaced partner becomes free if its own end allows that (0..1 or *). If it does not (1), the \
        partner must be linked elsewhere or deleted in the same change set, or the store refuses the call.
        - **No request is sent for the replaced partner.** The request that makes the new link causes the service to \
        remove the old one; see [Decisions/0017](Decisions/0017-no-unlink-request-for-a-replaced-partner.md).
        - **A link leads into the bound set.** A navigation property leads into the entity set that \
        `NavigationPropertyBinding` (V2: the association set) names; a binding for the entity's derived type takes \
        precedence. A link into another set is refused with `wrongTargetSet`; a download skips and reports a link of \
        the service into another set.
        - **A constraint property is a link.** Setting `IDCards.PersonID` links at once, visible from both ends, and \
        linking sets it. If a binding contradicts it, the binding takes precedence.
        - **Links are added to a collection; a collection is not replaced.** `updateLink` is for single-valued ends. \
        `deleteLink` must name the other entity at a collection; at a single-valued end it need not.
        - **A new entity's link is part of its creation.** `createRelatedEntity` through a collection is a POST to it. \
        Through a single-valued property it is a POST that binds the partner, because a POST to a single-valued \
        property does not exist.
        - **`$1` refers to a new entity in URLs, in V4 also in bodies.** V2 allows it in URLs only, so a link between \
        two new entities is expressed by the URL at which the second one is created, by a deep insert, or in the next \
        batch under the real key. An upload detects a service that supports fewer references; a service that supports \
        more can be configured (`contentIDReferences`); see \
        [Decisions/0064](Decisions/0064-request-form-fallback-and-rollback-verification.md).
        - **A deep insert to many is split** into requests of one change set, unless the service is configured as \
        answering in order or as echoing Content-IDs (`ServiceOptions`): neither V2 nor V4.0 identifies the entities \
        of a response; see [Decisions/0007](Decisions/0007-deep-inserts-into-collections-are-split.md).
        - **A delete cascades as the metadata define**: with `OnDelete` *Cascade*, and with containment, the partners \
        are deleted with the entity, in the store and on the service, by one request. The Shop has no such \
        relationship; `Tests/RelationshipTests/CascadeTests.swift` has. With *SetDefault*, the dependent properties \
        of the partners receive their defaults, or null; `DeleteDefaultTests.swift` shows it.
        - **Containment is not a link** (`ContainsTarget`, V4). A contained entity is created through the property \
        that contains it (`POST People('ann')/Trips`, below a new parent `POST $1/Trips`), changed and deleted at that \
        path, and its key is unique below its parent only. It cannot be created without a parent, linked, unlinked, \
        bound or moved: the store refuses these calls. Its set is named by its path, `People/Trips`; see \
        [Decisions/0060](Decisions/0060-contained-entity-sets-are-named-by-path.md) and \
        `Tests/RelationshipTests/Containment`.
        - **A change set has no order.** A service may execute its requests in any order. To move an entity, set the \
        new link, which is one request; a `deleteLink` before it is a second request that may be executed last.

        ## Notation

        `Cars(1)` is on the service; `Cars(c)`, with a letter, is new, and has no key before the upload. `1-2 3- -4` \
        is a whole relationship: the first end's entity 1 is linked to the second end's 2; 3 and 4 have no partner.

        Requests are shown without the headers that each of them has in the batch: `DataServiceVersion: 2.0`, \
        `MaxDataServiceVersion: 2.0` (V2) or `OData-Version: 4.0`, `OData-MaxVersion: 4.01` (V4), `Accept: \
        application/json`, and with a body `Content-Type: application/json` and `Content-Length`. Requests that change \
        or delete the entity itself send `If-Match` with its ETag; here only orders have ETags. `(1)` is the \
        Content-ID. All requests of a cell are one change set of one batch, except those after *then*, which are one \
        change set of the next batch. A whole batch of V2:

        ```
        \(v2)
        ```

        and the same of V4:

        ```
        \(v4)
        ```

        """
    }
}
