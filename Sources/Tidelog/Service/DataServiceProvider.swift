public import EDM
public import ODataWire
public import SyncEngine

/// What answers a ``DataService``: a store (``OfflineODataProvider``) or the service itself (``OnlineODataProvider``).
///
/// The same intents mean the same for both. Apps use the providers and have no need to call these.
public protocol DataServiceProvider: AnyObject, Sendable {
    /// The metadata, once it is known; nil before.
    var loadedModel: EntityDataModel? { get }
    /// The metadata, read now where it is not known.
    func model() async throws(TidelogError) -> EntityDataModel
    /// Tells the provider which metadata the app's classes were generated from. ``DataService`` does it when it is made.
    func adopt(_ classes: ClassMetadata)
    /// See ``DataService/refreshMetadata(_:)``.
    func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh
    func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult]
    func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer
    func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot
    /// The same as ``query(_:headers:)`` without suspending, for what is loaded when it is first looked at. Blocks while the
    /// store is busy, at most for one transaction; all entities come, whatever the page size. Throws `unsupported` where
    /// entities are not kept here, as services do not.
    func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer
    /// The IDs of what a navigation property leads to, or with `isBackwards` of what leads here by it. Likewise.
    func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID]
    /// Runs change sets and queries of which none refers to what another one makes or changes, in order.
    ///
    /// Returns an outcome for each until the first that failed; a service may have gone on behind it (V2 does), and then
    /// there are more.
    func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome]
    /// Calls a function or action. Throws `unsupported` where no service is asked, as a store does not.
    func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer
    /// The results of a query from now on, whenever they change. Throws `unsupported` where nobody tells of changes, as
    /// services do not.
    func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery
    /// Tells of each request to the service from now on; nil tells nothing. An offline provider sends some only when it is
    /// opened, uploads or downloads.
    func trace(_ trace: RequestTrace?)
}

/// A part of a ``RequestBatch`` in terms of values.
public enum BatchCall: Sendable {
    case changes([(intent: Intent, options: IntentOptions)])
    case query(QueryRequest)
}

/// What became of a ``BatchCall``.
public enum BatchCallOutcome: Sendable {
    /// One for each intent.
    case changes([IntentResult])
    case query(QueryAnswer)
    case failed(TidelogError)
}

extension DataServiceProvider {
    /// What is wrong with the service's metadata, and which of its sets, properties and so on the service therefore does not
    /// have here: they are neither read nor sent. Empty before the metadata are known.
    public var metadataDefects: [MetadataDefect] { loadedModel?.defects ?? [] }

    /// Nothing to compare.
    public func adopt(_ classes: ClassMetadata) {}

    /// Always `unsupported`; nothing is logged.
    public func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer {
        let what = invocation.operation.mayChangeSomething ? "what it would change" : "its result"
        throw TidelogError(
            .unsupported, "Only the service can tell \(what): \(invocation.operation.name) can't be called offline.",
            recovery: "Call it online, by a DataService with an OnlineODataProvider.")
    }

    public func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery {
        throw TidelogError(
            .unsupported, "The service does not tell of changes.",
            recovery: "Observe an offline store, or execute the query again.")
    }

    public func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer { throw .notKeptHere }

    public func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] { throw .notKeptHere }

    public func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome] {
        await processInTurn(calls)
    }

    /// Each by itself, up to the first that fails.
    func processInTurn(_ calls: [BatchCall]) async -> [BatchCallOutcome] {
        var outcomes: [BatchCallOutcome] = []
        for call in calls {
            do throws(TidelogError) {
                switch call {
                case .changes(let intents): outcomes.append(.changes(try await perform(intents, asChangeSet: true)))
                case .query(let request): outcomes.append(.query(try await query(request, headers: .empty)))
                }
            } catch {
                outcomes.append(.failed(error))
                break
            }
        }
        return outcomes
    }
}

/// Where a query starts.
public enum QueryRequest: Sendable {
    /// A URL with its query options.
    case url(String)
    case set(EntitySet, QueryOptions)
    /// What a navigation property of an entity leads to.
    case related(EntityAddress, Property, QueryOptions)
    /// One entity of the store.
    case entity(EntityID)
    /// What leads to an entity by a navigation property of its own: the same relationship walked backwards.
    case sources(EntityAddress, Property, QueryOptions)
}

extension TidelogError {
    fileprivate static var notKeptHere: TidelogError {
        TidelogError(
            .unsupported, "Entities of a service are not read when they are first looked at.",
            recovery: "Load the relation with load(), or expand it in the query.")
    }
}
