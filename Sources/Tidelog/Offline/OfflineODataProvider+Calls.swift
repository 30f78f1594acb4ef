public import EDM
package import ODataQuery
package import ODataWire
public import OfflineStore
package import Operations

/// The calls of a ``DataService``.
extension OfflineODataProvider {
    /// Returns the metadata of the store.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func model() async throws(TidelogError) -> EntityDataModel {
        let store = try engine().store
        // Without another wait for the store's queue.
        if let model = store.currentModel { return model }
        return try await store.model
    }

    package func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        if let discarded = try await discard(intents) { return discarded }
        return try await engine().store.perform(intents, asChangeSet: asChangeSet)
    }

    package func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reading().query(request, headers: headers)
    }

    package func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer {
        try engine().store.queryWaiting(request)
    }

    package func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] {
        try engine().store.linkedEntitiesWaiting(address, property, isBackwards: isBackwards)
    }

    package func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await engine().store.withShortAccess { store throws(TidelogError) in
            try store.load(address, options: options)
        }
    }

    package func keepStream(_ content: MediaContent) async throws(TidelogError) -> LocalStream {
        try await engine().store.media.keptStream(mediaType: content.mediaType, name: content.name, content.feed)
    }

    package func downloadStream(
        _ stream: StreamAddress, headers: HTTPHeaders
    ) async throws(TidelogError) -> LocalStream? {
        try await engine().downloadStream(stream.entity, property: stream.property)
    }

    package func localStream(_ stream: StreamAddress) async throws(TidelogError) -> LocalStream? {
        try await engine().store.media.localStream(stream.entity, property: stream.property)
    }
}
