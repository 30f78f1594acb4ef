public import EDM
public import ODataWire
public import SyncEngine
import Synchronization
public import Transport

/// The service itself: every call is a request, and returns when the service has answered.
public final class OnlineODataProvider: DataServiceProvider {
    private let session: ServiceSession
    private let known = Mutex(Known())

    /// The metadata, and what they are compared with.
    private struct Known {
        /// The service's own, once they were read; those of the classes before.
        var model: EntityDataModel?
        var isRead = false
        var classes: ClassMetadata?
        /// Whether the session was told what the protocol's version needs.
        var isPrepared = false
    }

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

    public var loadedModel: EntityDataModel? { known.withLock { $0.model } }

    public func adopt(_ classes: ClassMetadata) {
        known.withLock {
            $0.classes = classes
            if $0.model == nil { $0.model = classes.model }
        }
    }

    /// The service's metadata, or those of the app's classes as long as nobody has read the service's.
    public func model() async throws(TidelogError) -> EntityDataModel {
        let model: EntityDataModel
        if let loadedModel { model = loadedModel } else { model = try await read() }
        if model.version.isLegacy, known.withLock({ !$0.isPrepared }) {
            known.withLock { $0.isPrepared = true }
            await session.expectToken()
        }
        return model
    }

    /// Reads the service's metadata unless they were read before. Throws `incompatibleMetadata` if the app's classes cannot
    /// live with them; then those of the classes stay in force.
    func loadMetadata() async throws(TidelogError) {
        let (isRead, classes) = known.withLock { ($0.isRead, $0.classes) }
        guard !isRead else { return }
        guard let classes else {
            _ = try await model()
            return
        }
        let new = try await MetadataReading.read(session).model
        let incompatible = classes.comparison(with: new)
        guard incompatible.incompatible.isEmpty else {
            throw TidelogError(
                IncompatibleMetadata(difference: incompatible.difference, changes: incompatible.incompatible),
                root: session.root)
        }
        known.withLock { ($0.model, $0.isRead) = (new, true) }
        _ = try await model()
    }

    private func read() async throws(TidelogError) -> EntityDataModel {
        let model = try await MetadataReading.read(session).model
        known.withLock { ($0.model, $0.isRead) = (model, true) }
        return model
    }

    public func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh {
        let (old, classes) = known.withLock { ($0.isRead ? $0.model : nil, $0.classes) }
        let new = try await MetadataReading.read(session).model
        // Compatible with what was read last and not with the classes, or the other way round: both count.
        var refresh = try MetadataRefresh(from: old ?? classes?.compared ?? new, to: new, policy, root: session.root)
        if let classes {
            let compared = try MetadataRefresh(from: classes.compared, to: new, policy, root: session.root)
            if old == nil { refresh = compared }
        }
        known.withLock { ($0.model, $0.isRead) = (new, true) }
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
