public import EDM
public import ODataWire
public import SyncEngine
import Synchronization
public import Transport

/// The service itself: every call is a request, and returns when the service has answered.
public final class OnlineODataProvider: DataServiceProvider {
    private let session: ServiceSession
    private let cached = Mutex<EntityDataModel?>(nil)

    private let givenOptions: ServiceOptions?

    /// - Parameters:
    ///   - serviceRoot: an absolute URL, with or without a slash at its end.
    ///   - serviceOptions: what the service lacks; nil for what its metadata say.
    public init(
        serviceRoot: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none,
        serviceOptions: ServiceOptions? = nil
    ) {
        givenOptions = serviceOptions
        session = ServiceSession(
            root: serviceRoot, transport: transport ?? defaultTransport(), credentials: credentials)
    }

    public var loadedModel: EntityDataModel? { cached.withLock { $0 } }

    public func model() async throws(TidelogError) -> EntityDataModel {
        if let model = loadedModel { return model }
        let (_, model) = try await MetadataReading.read(session)
        cached.withLock { $0 = model }
        if model.version.isLegacy { await session.expectToken() }
        return model
    }

    public func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        let old = try await model()
        let new = try await MetadataReading.read(session).model
        let refresh = try MetadataRefresh(from: old, to: new, policy, root: session.root)
        cached.withLock { $0 = new }
        return refresh
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

    /// All parts as one `$batch`, where the service has one.
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
            OnlineReading(session: session, model: model))
    }

    public func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer {
        let model = try await model()
        return try await OnlineInvocation(session: session, model: model, options: options(model)).answer(
            to: invocation)
    }

    public func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await OnlineReading(session: session, model: try await model()).query(request, headers)
    }

    public func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await OnlineReading(session: session, model: try await model()).load(address, options, headers)
    }
}
