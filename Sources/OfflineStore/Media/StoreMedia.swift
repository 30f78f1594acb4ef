import EDM
import ODataWire
import OperationLog
package import Operations
import SyncCore
import Views

/// Media streams. Their bytes are in files next to the log, which contains their digests.
package actor StoreMedia {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Whether the store can keep streams. False if the log is only in memory.
    package nonisolated var keepsStreams: Bool { core.disk.isSystem }

    /// Stores the bytes of a stream that the app is about to write.
    ///
    /// An operation with the result has to follow before the store is closed; otherwise the bytes are removed.
    ///
    /// - Parameter feed: A function that passes the bytes in chunks. An error that it throws becomes the cause of the
    ///   error thrown here.
    package nonisolated func keepStream(
        mediaType: String, name: String? = nil,
        _ feed: (_ take: ([UInt8]) throws -> Void) async throws -> Void
    ) async throws(TidelogError) -> StreamContent {
        let writer = try StreamFileWriter(try StreamFiles(of: core), number: core.environment.random())
        do {
            try await feed { try writer.append($0) }
        } catch {
            throw .unreadableContent(error)
        }
        return try writer.finish(mediaType: mediaType, name: name)
    }

    /// Stores the bytes of a stream that the app is about to write; see ``keepStream(mediaType:name:_:)``.
    package nonisolated func keptStream(
        mediaType: String, name: String?, _ feed: (_ take: ([UInt8]) throws -> Void) async throws -> Void
    ) async throws(TidelogError) -> LocalStream {
        try localStream(try await keepStream(mediaType: mediaType, name: name, feed), isPending: true)
    }

    /// Passes the bytes of a file in chunks.
    package static func copyFile(_ path: String, to take: ([UInt8]) throws -> Void) throws {
        let unreadable = TidelogError(
            .invalidRequest, "The file cannot be read.", place: path, recovery: "Check its path and permissions.")
        guard let file = StreamFileReader(path) else { throw unreadable }
        while true {
            guard let chunk = file.next() else { throw unreadable }
            if chunk.isEmpty { return }
            try take(chunk)
        }
    }

    /// Returns the stream as the app sees it: the pending version, or else the downloaded one. Nil if the store has
    /// neither.
    ///
    /// - Parameter property: The stream property, or nil for the stream of a media entity.
    /// - Throws: `damaged` if the file is missing or has another length.
    package func localStream(
        _ address: EntityAddress, property: String? = nil
    ) throws(TidelogError) -> LocalStream? {
        let id = try entityID(address)
        guard let (content, isPending) = try core.read({ try $0.localStream(property, of: id) }) else { return nil }
        return try localStream(content, isPending: isPending)
    }

    package nonisolated func localStream(_ content: StreamContent, isPending: Bool) throws(TidelogError) -> LocalStream
    {
        let streams = try StreamFiles(of: core)
        let path = streams.path(of: content)
        guard streams.holds(content) else {
            throw TidelogError(
                .damaged, "The file of a stream is missing or has the wrong length.", place: path,
                recovery: isPending ? "Write the stream again." : "Download the stream again.")
        }
        return LocalStream(content, at: streams.place(of: content), isPending: isPending)
    }

    package func entityID(_ address: EntityAddress) throws(TidelogError) -> EntityID {
        let model = try core.model
        return try core.read { state throws in
            try AddressResolver(state: state, model: model, root: try state.header().service?.root).entity(address)
        }
    }

    /// Returns the folder of the streams.
    package nonisolated func files() throws(TidelogError) -> StreamFiles { try StreamFiles(of: core) }

    /// Returns the location of a stream.
    ///
    /// - Throws: An error if the entity has no such stream, or the service does not have the entity yet.
    package func streamSource(_ id: EntityID, property: String?) throws(TidelogError) -> StreamSource {
        let model = try core.model
        let name = try core.read { state throws in try state.name(of: id, model) }
        guard
            let (reference, set) = try core.read({
                try EntityResolver(storage: $0, model: model).serviceReference(id, model)
            })
        else {
            throw TidelogError(
                .notFound, "\(name) does not exist at the service yet.", recovery: "Upload the entity first.")
        }
        let type = try core.read { try $0.serviceRow(id) }.flatMap { model.findEntityType($0.type) } ?? set.entityType
        let isThere = property.map { type.findProperty($0)?.type.primitive == .stream } ?? type.hasStream
        guard isThere else {
            throw TidelogError(
                .invalidRequest,
                property.map { "\(type.name) has no stream property \($0)." } ?? "\(type.name) is not a media entity.")
        }
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: "", options: try core.serviceOptions)
        let known = try core.read { try $0.stream(property, of: id) }
        let owner =
            property.flatMap(type.findProperty).map { reference.having($0, in: set, version: model.version) }
            ?? reference
        return StreamSource(
            entity: id, url: known?.reported?.readLink ?? encoder.streamURL(of: owner, property: property),
            known: known
        )
    }

    /// Returns whether the store has the version of a media stream that the service last reported. False if the service
    /// reported no ETag.
    package func isStreamCurrent(_ id: EntityID) throws(TidelogError) -> Bool {
        guard let known = try core.read({ try $0.stream(nil, of: id) }), let content = known.content,
            let etag = known.reported?.etag
        else { return false }
        let files = try StreamFiles(of: core)
        return known.etag == etag && files.holds(content)
    }

    /// Logs a downloaded stream.
    ///
    /// If the store has learned of another version during the download, for example by an upload, the downloaded one
    /// may be older and is discarded.
    ///
    /// - Returns: The service's version in the store now.
    package func logStream(
        _ image: StreamImage, inPlaceOf known: StreamImage?
    ) async throws(TidelogError) -> LocalStream? {
        let now = try core.transaction { () throws -> StreamImage? in
            let now = try core.state.stream(image.property, of: image.entity)
            guard now == known else { return now }
            try core.add(.streamsStored([image]))
            _ = try core.commit()
            return image
        }
        try await core.acknowledge()
        return try now?.content.map { content throws(TidelogError) in try localStream(content, isPending: false) }
    }

    /// Returns the media entities of a defining query that the service still has.
    ///
    /// Cost: one pass over the coverage of all queries.
    package func mediaEntities(of query: String) throws(TidelogError) -> [EntityID] {
        let model = try core.model
        return try core.read { state in
            var covered: [EntityID] = []
            try state.bookkeeping.forEachCoverage { name, id, _ in if name == query { covered.append(id) } }
            return try covered.filter { id in
                guard let row = try state.serviceRow(id), row.origin.isOnService else { return false }
                return model.findEntityType(row.type)?.hasStream == true
            }
        }
    }

    /// Returns the request body for a stream operation. Cost: reads the whole file.
    ///
    /// - Throws: `damaged` if the file is missing or has changed.
    package nonisolated func requestStream(_ content: StreamContent) async throws(TidelogError) -> LocalStream {
        let stream = try localStream(content, isPending: true)
        guard try StreamFiles(of: core).isIntact(content) else {
            throw TidelogError(
                .damaged, "The file of a stream was changed after it was written.", place: stream.path,
                recovery: "Write the stream again.")
        }
        return stream
    }

    /// Removes unreferenced files, and encrypts files that are not encrypted with the newest key.
    ///
    /// It may only run while the store is opened; later, the operation of a newly written stream may not be logged yet.
    func arrange() throws(TidelogError) {
        guard let streams = try? StreamFiles(of: core), !streams.isEmpty else { return }
        let used = try streamsInUse()
        streams.removeAll(but: used.keys)
        try streams.seal(used.values, random: core.environment.random)
    }

    private func streamsInUse() throws(TidelogError) -> [StreamDigest: StreamContent] {
        try core.read { state in
            var used: [StreamDigest: StreamContent] = [:]
            func add(_ content: StreamContent?) { if let content { used[content.digest] = content } }
            try state.bookkeeping.forEachStreams { _, streams in for stream in streams { add(stream.content) } }
            try state.forEachPending { add($0.operation.stream?.content) }
            try state.bookkeeping.forEachUndone { add($0.operation.operation.stream?.content) }
            return used
        }
    }

    /// Returns messages about missing and damaged stream files, with the entities that they belong to.
    ///
    /// Cost: reads all stream files.
    package func damagedStreams() throws(TidelogError) -> [String] {
        guard let streams = try? StreamFiles(of: core) else { return [] }
        return try streamsInUseByName().filter { !streams.isIntact($0.content) }.map { name, content in
            "The stream of \(name) is missing or damaged: \(streams.path(of: content))"
        }
    }

    private func streamsInUseByName() throws(TidelogError) -> [(name: String, content: StreamContent)] {
        let model = try core.model
        return try core.read { state in
            var found: [(id: EntityID, content: StreamContent)] = []
            try state.bookkeeping.forEachStreams { id, streams in
                for content in streams.compactMap(\.content) { found.append((id, content)) }
            }
            try state.forEachPending {
                if let content = $0.operation.stream?.content { found.append(($0.operation.subject, content)) }
            }
            return try found.map { (try state.name(of: $0.id, model), $0.content) }
        }
    }
}

/// The location of a stream on the service, and the version in the store.
package struct StreamSource {
    package let entity: EntityID
    package let url: String
    package let known: StreamImage?
}

extension TidelogError {
    /// Returns the error for content that the app fails to supply.
    static func unreadableContent(_ error: any Error) -> TidelogError {
        error as? TidelogError
            ?? TidelogError(.invalidRequest, "The content of the stream cannot be read: \(error)", cause: error)
    }
}

extension StreamFiles {
    /// The files of a store.
    ///
    /// - Throws: `unsupported` if the store is in memory.
    package init(of core: StoreCore) throws(TidelogError) {
        guard core.disk.isSystem else {
            throw TidelogError(
                .unsupported, "A store in memory does not store media streams.", place: core.files.directory,
                recovery: "Open a store on disk.")
        }
        let identifier = core.log.storeIdentifier
        self.init(directory: core.files.streams, keys: core.keys.map { StreamKey($0, in: identifier) })
    }
}
