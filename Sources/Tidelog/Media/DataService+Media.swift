import EDM
public import ODataWire
public import OfflineStore
import Operations

/// Media entities and stream properties. A store keeps the bytes in files next to its log; online, each call is a
/// request. See Docs/Media.md.
extension DataService {
    /// Creates a media entity with its content.
    ///
    /// The other properties of the entity follow as an update, because a service accepts only the bytes when it
    /// creates a media entity (OData 4.01 Part 1, 11.4.7.1). If the update fails online, the entity exists with its
    /// content, and the object has its link and the unsaved properties.
    ///
    /// - Throws: `refused` if the type is not a media entity type; `unsupported` for a store in memory; `storage` if the
    ///   content cannot be written. Online, `invalidRequest` if it is not a media entity type, and the errors of a
    ///   request.
    public func createMedia(
        _ entity: EntityValue, content: MediaContent, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await create(ChangeSet.Operation(.create(entity, parent: nil), headers, options), content)
    }

    /// Creates a media entity with its content in a collection of another entity, and links it to that entity.
    ///
    /// - Throws: `refused` if the type is not a media entity type, or the entities cannot be linked; `unsupported` for a
    ///   store in memory; `storage` if the content cannot be written. Online, the errors of a request.
    public func createRelatedMedia(
        _ entity: EntityValue, content: MediaContent, in parent: EntityValue, property: some PropertyReference,
        headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await create(
            ChangeSet.Operation(.create(entity, parent: (parent, property.property)), headers, options), content)
    }

    /// Replaces the content of a media entity.
    ///
    /// - Throws: `refused(.notAllowed)` if it is not a media entity; `refused(.entityNotFound)` or `notFound` if it is
    ///   not in the store; `unsupported` for a store in memory; `storage` if the content cannot be written. Online, the
    ///   errors of a request.
    public func uploadMedia(
        entity: EntityValue, content: MediaContent, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await write(content, nil, entity, headers, options)
    }

    /// Replaces the content of a stream property.
    ///
    /// - Throws: Like ``uploadMedia(entity:content:headers:options:)``, and `refused(.unknownProperty)` if the type has
    ///   no such stream property.
    public func uploadStream(
        entity: EntityValue, property: some PropertyReference, content: MediaContent, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await write(content, property.property, entity, headers, options)
    }

    /// Deletes a media entity with its content, like ``deleteEntity(_:headers:options:)``.
    ///
    /// - Throws: Like ``deleteEntity(_:headers:options:)``.
    public func deleteMedia(
        entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await deleteEntity(entity, headers: headers, options: options)
    }

    /// Deletes the content of a stream property.
    ///
    /// To delete the content of a media entity, delete the entity with ``deleteEntity(_:headers:options:)``.
    ///
    /// - Throws: `refused(.unknownProperty)` if the type has no such stream property; `refused(.entityNotFound)` or
    ///   `notFound` if the entity is not in the store. Online, the errors of a request.
    public func deleteStream(
        entity: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await write(nil, property.property, entity, headers, options)
    }

    /// Downloads the content of a media entity into the store, unless the store already has it; online, into a temporary
    /// file that is removed with the last copy of the result.
    ///
    /// Local content that has not been uploaded yet is not replaced: ``localMedia(entity:)`` still returns it.
    ///
    /// - Parameters:
    ///   - entity: the media entity.
    ///   - headers: additional headers of the request, online only.
    /// - Returns: The content, or `nil` if the service has none.
    /// - Throws: `notFound` if the entity is not in the store or not on the service yet; `invalidRequest` if it is not
    ///   a media entity; `unsupported` for a store in memory; `storage` if the file cannot be written; the errors of a
    ///   request.
    @discardableResult
    public func downloadMedia(
        entity: EntityValue, headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> LocalStream? {
        try await backend.downloadStream(try await address(of: nil, entity), headers: headers)
    }

    /// Downloads the content of a stream property into the store, unless the store already has it; online, into a
    /// temporary file that is removed with the last copy of the result.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - property: the stream property.
    ///   - headers: additional headers of the request, online only.
    /// - Returns: The content, or `nil` if the service has none.
    /// - Throws: `notFound` if the entity is not in the store or not on the service yet; `invalidRequest` if the type
    ///   has no such stream property; `unsupported` for a store in memory; `storage` if the file cannot be written; the
    ///   errors of a request.
    @discardableResult
    public func downloadStream(
        entity: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> LocalStream? {
        try await backend.downloadStream(try await address(of: property.property, entity), headers: headers)
    }

    /// Returns a Boolean value that indicates whether the content of a media entity is in the store; always `false`
    /// online.
    ///
    /// - Throws: `notFound` if the entity is not in the store; `damaged` if the file of the content is missing or has
    ///   another length; `noStore` if the store is not open.
    public func isMediaLocal(entity: EntityValue) async throws(TidelogError) -> Bool {
        try await localMedia(entity: entity) != nil
    }

    /// Returns the content of a media entity in the store: the last content written locally, otherwise the downloaded
    /// one.
    ///
    /// - Returns: The content, or `nil` if the store has none; always `nil` online.
    /// - Throws: `notFound` if the entity is not in the store; `damaged` if the file of the content is missing or has
    ///   another length; `noStore` if the store is not open.
    public func localMedia(entity: EntityValue) async throws(TidelogError) -> LocalStream? {
        try await backend.localStream(try await address(of: nil, entity))
    }

    /// Returns the content of a stream property in the store: the last content written locally, otherwise the
    /// downloaded one.
    ///
    /// - Returns: The content, or `nil` if the store has none; always `nil` online.
    /// - Throws: `notFound` if the entity is not in the store; `damaged` if the file of the content is missing or has
    ///   another length; `noStore` if the store is not open.
    public func localStream(
        entity: EntityValue, property: some PropertyReference
    ) async throws(TidelogError) -> LocalStream? {
        try await backend.localStream(try await address(of: property.property, entity))
    }

    // MARK: Parts

    private func address(of property: Property?, _ entity: EntityValue) async throws(TidelogError) -> StreamAddress {
        StreamAddress(
            try IntentBuilder(model: try await backend.model()).address(of: entity, forReading: true),
            property: property?.name, links: entity.streams.first { $0.property == property?.name })
    }

    private func create(_ operation: ChangeSet.Operation, _ content: MediaContent) async throws(TidelogError) {
        let model = try await backend.model()
        let call = try ModificationCall([operation], model: model, provider: backend)
        guard let (intent, options) = call.intents.first, case .create(var draft, let parent) = intent else { return }
        let rest = Intent.update(
            .draft(draft.number), changes: draft.values, bindings: draft.bindings, inline: draft.inline)
        let hasRest = !draft.values.isEmpty || !draft.bindings.isEmpty || !draft.inline.isEmpty
        (draft.values, draft.bindings, draft.inline) = ([:], [], [])
        var first = options
        try await put(content, of: nil, into: &first)
        let create = (intent: Intent.create(draft, in: parent), options: first)
        guard backend is OnlineODataProvider, hasRest, let entity = operation.subject else {
            let intents = [create] + (hasRest ? [(intent: rest, options: options)] : [])
            return call.apply(try await backend.perform(intents, asChangeSet: false), factory(model))
        }
        // Two requests that cannot be atomic: after the first one, the entity exists and the object names it.
        let results = try await backend.perform([create], asChangeSet: false)
        guard let created = results.first?.entities[draft.number] else { return }
        entity.applyKeepingEdits(created, factory(model))
        try await updateEntity(entity, headers: operation.headers, options: operation.options)
    }

    private func write(
        _ content: MediaContent?, _ property: Property?, _ entity: EntityValue, _ headers: HTTPHeaders,
        _ options: RequestOptions
    ) async throws(TidelogError) {
        let address = try await address(of: property, entity)
        // A stream has its own ETag. V2 services that return none use the entity's.
        let fallback = try await backend.model().version.isLegacy ? entity.etag : nil
        var intentOptions = try options.intentOptions(headers: headers, ifMatch: address.links?.etag ?? fallback)
        intentOptions.streamLink = address.links?.editLink
        if entity.entityType.baseType != nil { intentOptions.sourceType = entity.entityType.name }
        try await put(content, of: property, into: &intentOptions)
        let intent = Intent.update(address.entity, changes: [:], bindings: [], inline: [])
        let results = try await backend.perform([(intent, intentOptions)], asChangeSet: false)
        entity.lastOperation = results.first?.sequence ?? entity.lastOperation
        guard let result = results.first, result.sequence == nil else { return }
        var links = address.links ?? StreamLinks(property: property?.name)
        links.etag = result.etag
        entity.streams = entity.streams.filter { $0.property != property?.name } + [links]
    }

    private func put(
        _ content: MediaContent?, of property: Property?, into options: inout IntentOptions
    ) async throws(TidelogError) {
        if let content { options.streamContent = try await backend.keepStream(content) }
        options.stream = StreamWrite(property: property?.name, content: options.streamContent?.content)
    }
}
