import EDM
import OfflineStore
import Operations
import SyncCore
import SyncEngine
import Transport

/// The opening of a store, which creates the store if it does not exist.
struct StoreOpener {
    let parameters: OfflineODataParameters
    let givenRoot: String?
    let place: StorePlace

    /// Opens the store and puts it into the settings.
    ///
    /// - Returns: Whether the store was created.
    func open(_ settings: StoreSettings) async throws(TidelogError) -> Bool {
        let description = try place.preparedDescription()
        let root = try place.serviceRoot(givenRoot, description)
        let session = parameters.connection.session(root)
        settings.changeHeaders { $0.registration = parameters.registrationHeader(description) }
        session.headers = settings.headers
        session.trace = settings.trace
        // Checks the service and the queries before any file is created, so that a failure leaves no files.
        let queries = settings.queries
        let metadata = description == nil ? try await ClientAdditions(parameters).metadata(session) : nil
        if let metadata { for query in queries { try query.check(for: metadata.model) } }
        let store = try await LocalStore(
            place.files, creating: description == nil, options: place.options(description?.service))
        let engine = SyncEngine(store: store, session: session)
        observe(engine)
        let model: EntityDataModel
        do throws(TidelogError) {
            model = try await finish(engine, installing: metadata?.bytes, queries, isNew: description == nil)
        } catch {
            await store.close()
            throw error
        }
        settings.adopt(engine, model)
        return description == nil
    }

    /// Completes the opening of the store, including steps that an interrupted creation has left undone.
    private func finish(
        _ engine: SyncEngine, installing metadata: [UInt8]?, _ queries: [DefiningQuery], isNew: Bool
    ) async throws(TidelogError) -> EntityDataModel {
        let (store, session) = (engine.store, engine.session)
        // The log contains the root after redirects, the description the root as given. A store whose creation was
        // interrupted can have another logged root if the service redirects each visitor to an own root.
        let isRedirected = session.givenRoot != session.root
        if let logged = try await store.service?.root, logged != session.root,
            isNew ? !isRedirected || !session.isOfService(logged) : !session.move(to: logged)
        {
            throw place.belongs(to: logged, insteadOf: session.root)
        }
        if let metadata { try await engine.install(metadata) }
        // Written last, because a missing description marks a store whose creation was interrupted.
        if isNew {
            try place.write(StoreDescription(serviceRoot: session.givenRoot, service: parameters.serviceOptions))
        }
        if await !store.hasModel {
            guard givenRoot != nil else { throw place.withoutMetadata }
            try await engine.prepare()
        }
        try await ClientAdditions(parameters).adopt(in: store)
        try await store.checkIndexes()
        let model = try await store.model
        for query in queries { try query.check(for: model) }
        for query in queries { try await store.definingQueries.add(query) }
        return model
    }

    private func observe(_ engine: SyncEngine) {
        let metrics = SyncMetrics()
        let log = parameters.logger.map(SyncLog.init)
        engine.observe { event in
            metrics.count(event)
            log?.write(event)
        }
    }
}
