import EDM
public import ODataWire
import Operations
public import SyncEngine

/// Media entities and stream properties. A store keeps the bytes in files next to its log; see Docs/Media.md.
extension DataService {
    /// Creates a media entity with its content.
    ///
    /// The other properties of the entity follow as an update, because a service accepts only the bytes when it
    /// creates a media entity (OData 4.01 Part 1, 11.4.7.1).
    ///
    /// - Throws: `refused` if the type is not a media entity type.
    public func createMedia(
        _ entity: EntityValue, content: MediaContent, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await create(ChangeSet.Operation(.create(entity, parent: nil), headers, options), content)
    }

    /// Creates a media entity with its content in a collection of another entity, and links it to that entity.
    ///
    /// - Throws: `refused` if the type is not a media entity type.
    public func createRelatedMedia(
        _ entity: EntityValue, content: MediaContent, in parent: EntityValue, property: some PropertyReference,
        headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await create(
            ChangeSet.Operation(.create(entity, parent: (parent, property.property)), headers, options), content)
    }

    /// Replaces the content of a media entity.
    public func uploadMedia(
        entity: EntityValue, content: MediaContent, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        let content = try await kept(content)
        try await write(StreamWrite(content: content), entity, headers, options)
    }

    /// Replaces the content of a stream property.
    public func uploadStream(
        entity: EntityValue, property: some PropertyReference, content: MediaContent, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        let content = try await kept(content)
        try await write(StreamWrite(property: property.property.name, content: content), entity, headers, options)
    }

    /// Deletes a media entity with its content, like ``deleteEntity(_:headers:options:)``.
    public func deleteMedia(
        entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await deleteEntity(entity, headers: headers, options: options)
    }

    /// Deletes the content of a stream property.
    ///
    /// To delete the content of a media entity, delete the entity with ``deleteEntity(_:headers:options:)``.
    public func deleteStream(
        entity: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await write(StreamWrite(property: property.property.name, content: nil), entity, headers, options)
    }

    /// Downloads the content of a media entity into the store, unless the store already has it.
    ///
    /// Local content that has not been uploaded yet is not replaced: ``localMedia(entity:)`` still returns it.
    ///
    /// - Returns: The content, or `nil` if the service has none.
    @discardableResult
    public func downloadMedia(entity: EntityValue) async throws(TidelogError) -> LocalStream? {
        try await offline().downloadStream(try await address(of: entity))
    }

    /// Downloads the content of a stream property into the store, unless the store already has it.
    ///
    /// - Returns: The content, or `nil` if the service has none.
    @discardableResult
    public func downloadStream(entity: EntityValue, property: some PropertyReference) async throws(TidelogError)
        -> LocalStream?
    {
        try await offline().downloadStream(try await address(of: entity), property: property.property.name)
    }

    /// Returns a Boolean value that indicates whether the content of a media entity is in the store.
    public func isMediaLocal(entity: EntityValue) async throws(TidelogError) -> Bool {
        try await localMedia(entity: entity) != nil
    }

    /// Returns the content of a media entity in the store: the last content written locally, otherwise the downloaded
    /// one.
    ///
    /// - Returns: The content, or `nil` if the store has none.
    public func localMedia(entity: EntityValue) async throws(TidelogError) -> LocalStream? {
        try await offline().store.localStream(try await address(of: entity))
    }

    /// Returns the content of a stream property in the store: the last content written locally, otherwise the
    /// downloaded one.
    ///
    /// - Returns: The content, or `nil` if the store has none.
    public func localStream(entity: EntityValue, property: some PropertyReference) async throws(TidelogError)
        -> LocalStream?
    {
        try await offline().store.localStream(try await address(of: entity), property: property.property.name)
    }

    // MARK: Parts

    private func offline() throws(TidelogError) -> SyncEngine {
        guard let provider = provider as? OfflineODataProvider else {
            throw TidelogError(
                .unsupported, "Media streams can be read and written only through a store.",
                recovery: "Use an OfflineODataProvider.")
        }
        return try provider.engine()
    }

    private func address(of entity: EntityValue) async throws(TidelogError) -> EntityAddress {
        try IntentBuilder(model: try await provider.model()).address(of: entity, forReading: true)
    }

    private func kept(_ content: MediaContent) async throws(TidelogError) -> StreamContent {
        try await offline().store.keepStream(mediaType: content.mediaType, name: content.name, content.feed)
    }

    private func create(_ operation: ChangeSet.Operation, _ content: MediaContent) async throws(TidelogError) {
        let model = try await provider.model()
        let call = try ModificationCall([operation], model: model, provider: provider)
        guard let (intent, options) = call.intents.first, case .create(var draft, let parent) = intent else { return }
        let content = try await kept(content)
        let rest = Intent.update(
            .draft(draft.number), changes: draft.values, bindings: draft.bindings, inline: draft.inline)
        let hasRest = !draft.values.isEmpty || !draft.bindings.isEmpty || !draft.inline.isEmpty
        (draft.values, draft.bindings, draft.inline) = ([:], [], [])
        var first = options
        first.stream = StreamWrite(content: content)
        let intents = [(Intent.create(draft, in: parent), first)] + (hasRest ? [(rest, options)] : [])
        call.apply(
            try await provider.perform(intents.map { (intent: $0.0, options: $0.1) }, asChangeSet: false),
            factory(model))
    }

    private func write(
        _ stream: StreamWrite, _ entity: EntityValue, _ headers: HTTPHeaders, _ options: RequestOptions
    ) async throws(TidelogError) {
        _ = try offline()
        var intentOptions = try options.intentOptions(headers: headers, ifMatch: entity.etag)
        intentOptions.stream = stream
        let intent = Intent.update(try await address(of: entity), changes: [:], bindings: [], inline: [])
        let results = try await provider.perform([(intent, intentOptions)], asChangeSet: false)
        entity.lastOperation = results.first?.sequence ?? entity.lastOperation
    }
}
