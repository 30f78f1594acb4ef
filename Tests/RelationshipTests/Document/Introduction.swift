extension RelationshipsDocument {
    /// - Parameters:
    ///   - v2: the bytes of a whole batch.
    static func introduction(v2: String, v4: String) -> String {
        """
        # Relationships

        What a store allows on the six kinds of relationship, and the exact requests that an upload then sends. This page is \
        written by the tests from their table: `Tests/RelationshipTests` runs each line of it, in V2 and in V4, against a \
        service that judges by itself, and looks at both ends before the upload, after it, and after a download. Do not edit \
        it; run `TIDELOG_WRITE_DOCS=1 swift test --filter RelationshipTests`.

        ## Rules

        - **Multiplicity decides.** An end with multiplicity 1 is never empty. Whether the property that names the partner may \
        be null does not matter: `Cars.OwnerID` may, and a car still has an owner.
        - **Refused means nothing happened.** A refusal comes before anything is logged. It names the entity, the property and \
        the rule, and says what would be legal.
        - **A change set is judged by its end.** Inside of it anything may be empty for a while: two cars exchange their \
        owners, a city is deleted with its mayor.
        - **An end with room for one holds one.** A new link takes the place of the old one, seen from both ends at once. The \
        partner that is pushed out is free where its own end allows that (0..1 or *); where it does not (1), it has to be \
        linked elsewhere or deleted in the same change set, or the call is refused.
        - **Nothing is sent for the one that is pushed out.** The request that makes the new link makes the service let go of \
        the old one; see [Decisions/0017](Decisions/0017-no-unlink-request-for-a-replaced-partner.md).
        - **A link leads into the bound set.** A navigation property leads into the entity set that \
        `NavigationPropertyBinding` (V2: the association set) names, a binding for the entity's derived type first. A link into \
        another set is refused with `wrongTargetSet`; what a service links from another set is left out of the download and \
        reported.
        - **A constraint property is a link.** Setting `IDCards.PersonID` links at once, as seen from both ends, and linking \
        sets it. Where a binding says otherwise, the binding counts.
        - **A collection takes links, it is not replaced.** `updateLink` is for single-valued ends. `deleteLink` has to name \
        the other entity at a collection, and need not at a single-valued end.
        - **A new entity's link travels with it.** `createRelatedEntity` through a collection is a POST to it. Through a \
        single-valued property it is a POST that binds the partner, since there is no POST to a single-valued property.
        - **`$1` stands for a new entity in URLs, in V4 in bodies as well.** V2 has it in URLs, so a link between two new \
        entities is said by where the second one is created, by a deep insert, or in the next batch under the real key. A \
        service that reads less than that is found out by an upload, and one that reads more can be told to be such \
        (`contentIDReferences`); see \
        [Decisions/0064](Decisions/0064-request-form-fallback-and-rollback-verification.md).
        - **A deep insert to many is split** into requests of one change set, unless the service is said to answer in order or \
        to echo Content-IDs (`ServiceOptions`): neither V2 nor V4.0 says which entity of an answer is which; see \
        [Decisions/0007](Decisions/0007-deep-inserts-into-collections-are-split.md).
        - **A delete takes along what the metadata says**: with `OnDelete` *Cascade*, and with containment, the partners go \
        with the entity, here as on the service, by one request. The Shop has no such relationship; \
        `Tests/RelationshipTests/CascadeTests.swift` has.
        - **Containment is not a link** (`ContainsTarget`, V4). A contained entity is created through the property that \
        contains it (`POST People('ann')/Trips`, below a new parent `POST $1/Trips`), changed and deleted at that path, and its \
        key is unique below its parent only. It cannot be created without a parent, linked, unlinked, bound or moved: these are \
        refused. Its set is named by its path, `People/Trips`; see \
        [Decisions/0060](Decisions/0060-contained-entity-sets-are-named-by-path.md) and \
        `Tests/RelationshipTests/Containment`.
        - **A change set has no order.** A service may carry its requests out in any. To move an entity, set the new link: \
        that is one request; a `deleteLink` before it is a second one, which may come last.

        ## How to read it

        `Cars(1)` is on the service; `Cars(c)`, with a letter, is new, and has no key before the upload. `1-2 3- -4` is a whole \
        relationship: the first end's entity 1 is linked to the second end's 2; 3 and 4 are alone.

        Requests are shown without the headers that each of them has in the batch: `DataServiceVersion: 2.0`, \
        `MaxDataServiceVersion: 2.0` (V2) or `OData-Version: 4.0`, `OData-MaxVersion: 4.01` (V4), `Accept: application/json`, \
        and with a body `Content-Type: application/json` and `Content-Length`. `If-Match` is sent with the entity's ETag by \
        requests that change or delete the entity itself; orders are the only ones here that have ETags. `(1)` is the \
        Content-ID. All requests of a cell are one change set of one batch, but those behind *then*, which are one of the \
        next batch. A whole batch of V2:

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
