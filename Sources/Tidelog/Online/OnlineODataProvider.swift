public import EDM
public import ODataWire
public import SyncEngine
import Synchronization
public import Transport

/// The service itself: every call sends a request and returns after the response.
public final class OnlineODataProvider: DataServiceProvider {
    private let session: ServiceSession
    private let cached = Mutex<EntityDataModel?>(nil)
    private let classes = Mutex<ClassMetadata?>(nil)

    private let givenOptions: ServiceOptions?

    /// Creates a provider for a service.
    ///
    /// - Parameters:
    ///   - serviceRoot: an absolute URL, with or without a trailing slash.
    ///   - transport: sends the requests; `nil` for the platform's transport with the bounds of `limits`.
    ///   - credentials: the credentials that are sent to the service.
    ///   - serviceOptions: the capabilities of the service; `nil` for those that its metadata declares.
    ///   - limits: bounds on the duration and size of responses.
    public init(
        serviceRoot: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        serviceOptions: ServiceOptions? = nil, limits: ServiceLimits = ServiceLimits()
    ) {
        givenOptions = serviceOptions
        session = ServiceSession(
            root: serviceRoot, transport: transport ?? defaultTransport(TransportOptions(limits)),
            credentials: credentials, limits: limits)
    }

    public var loadedModel: EntityDataModel? { cached.withLock { $0 } }

    public func adopt(_ classes: ClassMetadata) { self.classes.withLock { $0 = classes } }

    public func model() async throws(TidelogError) -> EntityDataModel {
        if let model = loadedModel { return model }
        return await adopt(try await MetadataReading.read(session).model)
    }

    private func adopt(_ model: EntityDataModel) async -> EntityDataModel {
        cached.withLock { $0 = model }
        if model.version.isLegacy { await session.expectToken() }
        return model
    }

    /// Reads the service's metadata, unless it has been read before.
    ///
    /// - Throws: `incompatibleMetadata` if the app's classes do not support it.
    func loadMetadata() async throws(TidelogError) {
        if loadedModel != nil { return }
        let new = try await MetadataReading.read(session).model
        if let incompatible = classes.withLock({ $0 })?.comparison(with: new), !incompatible.incompatible.isEmpty {
            throw TidelogError(
                IncompatibleMetadata(
                    difference: incompatible.difference, changes: incompatible.incompatible, defects: new.defects),
                root: session.root)
        }
        _ = await adopt(new)
    }

    public func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        let (old, classes) = (loadedModel, classes.withLock { $0?.compared })
        let new = try await MetadataReading.read(session).model
        // The metadata read last can fit while the classes do not, or vice versa. Both must fit.
        var refresh: MetadataRefresh?
        if let classes, ModelDifference(from: classes, to: new).isComplete {
            refresh = try MetadataRefresh(from: classes, to: new, policy, root: session.root)
        }
        if let old { refresh = try MetadataRefresh(from: old, to: new, policy, root: session.root) }
        _ = await adopt(new)
        if let refresh { return refresh }
        return try MetadataRefresh(from: new, to: new, policy, root: session.root)
    }

    public func trace(_ trace: RequestTrace?) { session.trace = trace }

    public func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        let model = try await model()
        let round = OnlineModification(session: session, model: model, options: options(model))
        if asChangeSet { return try await round.changeSet(intents) }
        var results: [IntentResult] = []
        for (intent, options) in intents { results.append(try await round.single(intent, options)) }
        return results
    }

    private func options(_ model: EntityDataModel) -> ServiceOptions {
        givenOptions ?? ServiceOptions(declaredBy: model)
    }

    /// Sends all parts as one `$batch` if the service supports it.
    public func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome] {
        let model = try await model()
        let options = options(model)
        guard options.supportsBatch, calls.count > 1 else { return await processInTurn(calls) }
        let batch = OnlineBatch(
            session: session,
            encoder: RequestEncoder(version: model.version, model: model, serviceRoot: session.root, options: options),
            options: options)
        return try await batch.process(
            calls, OnlineModification(session: session, model: model, options: options),
            OnlineReader(session: session, model: model))
    }

    public func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer {
        let model = try await model()
        return try await OnlineInvocation(session: session, model: model, options: options(model)).answer(
            to: invocation)
    }

    public func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await OnlineReader(session: session, model: try await model()).query(request, headers)
    }

    public func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await OnlineReader(session: session, model: try await model()).load(address, options, headers)
    }
}
