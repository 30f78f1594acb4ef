import EDM
import ODataWire
import Operations

/// Entities that earlier requests of a change set change or link. Their ETags were already checked and may have changed.
struct ChangedEntities {
    private(set) var all: Set<EntityID> = []
    /// The Content-ID of the request that changed the entity last, if its response has the ETag of the result.
    private(set) var etagSources: [EntityID: String] = [:]

    /// - Parameters:
    ///   - result: The entity whose ETag the response contains.
    ///   - contentID: The Content-ID of the request.
    mutating func add(_ entities: some Collection<EntityID>, etagOf result: EntityID?, contentID: String?) {
        all.formUnion(entities)
        for entity in entities { etagSources[entity] = nil }
        if let result { etagSources[result] = contentID }
    }
}

extension ServiceOptions {
    /// Whether `If-Match` may refer to the ETag in an earlier response.
    func refersToETags(_ version: ODataVersion) -> Bool {
        supportsETagReferences && supportsBatch && !version.isLegacy
    }
}
