package import EDM
package import ODataQuery
package import ODataWire
package import OfflineStore
package import SyncEngine

/// The calls of a ``DataService`` that a provider implements.
///
/// A store and a service interpret the same intents in the same way.
package protocol ServiceBackend: DataServiceProvider {
    /// Returns the metadata, and reads it if necessary.
    func model() async throws(TidelogError) -> EntityDataModel
    /// Sets the metadata from which the app's classes were generated. ``DataService`` calls it in its initializer.
    func adopt(_ classes: ClassMetadata)
    /// Refreshes the metadata; see ``DataService/refreshMetadata(_:)``.
    func refreshMetadata(_ policy: CompatibilityPolicy) async throws(TidelogError) -> MetadataRefresh
    /// Executes modifications, with `asChangeSet` all or none.
    ///
    /// - Returns: One result for each intent.
    func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult]
    /// Executes a query.
    func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer
    /// Reads one entity.
    ///
    /// - Throws: `notFound` or `refused(.entityNotFound)` if there is no such entity.
    func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot
    /// Executes a query like ``query(_:headers:)`` but without suspending, for relations that are read on access.
    ///
    /// Blocks while the store is busy, for at most one transaction. Returns all entities, whatever the page size.
    ///
    /// - Throws: `unsupported` if the provider does not store entities, as for a service.
    func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer
    /// Returns the IDs of the targets of a navigation property or, with `isBackwards`, of the entities that refer to
    /// this one by it.
    ///
    /// Blocks and throws like ``queryWaiting(_:)``.
    func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID]
    /// Executes change sets and queries in order. None of them may refer to an entity that a different one creates or
    /// changes.
    ///
    /// - Returns: The outcomes up to the first failure, or more if the service continued after it (V2 does).
    func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome]
    /// Returns whether ``process(_:)`` accepts ``BatchCall/conditional(_:_:)``. Otherwise the caller evaluates the
    /// conditions, in several calls.
    func acceptsConditions() async throws(TidelogError) -> Bool
    /// Calls a function or action.
    ///
    /// - Throws: `unsupported` if the provider does not contact a service, as for a store.
    func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer
    /// Stores the content of a stream that a following modification writes.
    func keepStream(_ content: MediaContent) async throws(TidelogError) -> LocalStream
    /// Downloads the content of a stream.
    ///
    /// - Returns: The content, or `nil` if the service has none.
    func downloadStream(
        _ stream: StreamAddress, headers: HTTPHeaders
    ) async throws(TidelogError) -> LocalStream?
    /// Returns the content of a stream that is available without the service, or `nil` if there is none.
    func localStream(_ stream: StreamAddress) async throws(TidelogError) -> LocalStream?
    /// Returns the results of a query from now on.
    ///
    /// - Throws: `unsupported` if the provider does not report changes, as for a service.
    func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery
    /// Sets the trace for all requests to the service from now on; `nil` disables tracing.
    ///
    /// An offline provider sends requests only when it is opened, uploads or downloads.
    func trace(_ trace: RequestTrace?)
}

/// A part of a ``RequestBatch`` as values.
package enum BatchCall: Sendable {
    case changes([(intent: Intent, options: IntentOptions)])
    case query(QueryRequest, headers: HTTPHeaders)
    /// A call that is executed only if the condition about earlier calls is true. Their numbers are positions in the
    /// batch.
    indirect case conditional(BatchCondition, BatchCall)
}

/// The outcome of a ``BatchCall``.
package enum BatchCallOutcome: Sendable {
    /// One result for each intent.
    case changes([IntentResult])
    case query(QueryAnswer)
    case failed(TidelogError)
    /// The call was not executed, because its condition is not true.
    case skipped
}

extension ServiceBackend {
    /// The provider itself.
    package var backend: ProviderBackend { ProviderBackend(self) }

    /// Does nothing.
    package func adopt(_ classes: ClassMetadata) {}

    /// Always throws `unsupported`; nothing is logged.
    package func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer {
        let isAction = invocation.operation.mayChangeSomething
        throw TidelogError(
            .unsupported,
            "\(invocation.operation.name) cannot be called offline: only the service can determine its \(isAction ? "effect" : "result").",
            recovery: "Call it online, with a DataService that has an OnlineODataProvider"
                + (isAction ? ", or queue it with queueAction(_:on:_:)." : "."))
    }

    /// Always throws `unsupported`: OData has no notifications that a client without a server of its own could receive.
    /// Deltas are requested (OData 4.01 Part 1, 11.3), and the preference `callback` (8.2.8.2) needs an endpoint of the
    /// client; V2 has neither.
    package func observe(_ request: QueryRequest) throws(TidelogError) -> LiveQuery {
        throw TidelogError(
            .unsupported,
            "A service does not report changes to its clients: they request them (OData 4.01 Part 1, section 11.3).",
            recovery: "Observe a store, execute the query again, or request the changes with trackChanges().")
    }

    /// Always throws `unsupported`.
    package func keepStream(_ content: MediaContent) async throws(TidelogError) -> LocalStream { throw .noStreams }

    /// Always throws `unsupported`.
    package func downloadStream(
        _ stream: StreamAddress, headers: HTTPHeaders
    ) async throws(TidelogError) -> LocalStream? { throw .noStreams }

    /// Always throws `unsupported`.
    package func localStream(_ stream: StreamAddress) async throws(TidelogError) -> LocalStream? { throw .noStreams }

    package func queryWaiting(_ request: QueryRequest) throws(TidelogError) -> QueryAnswer { throw .notKeptHere }

    package func linkedEntities(
        _ address: EntityAddress, _ property: Property, isBackwards: Bool
    ) throws(TidelogError) -> [EntityID] { throw .notKeptHere }

    /// Returns false.
    package func acceptsConditions() async throws(TidelogError) -> Bool { false }

    package func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome] {
        await processInTurn(calls)
    }

    /// Executes the calls one by one, up to the first failure.
    func processInTurn(_ calls: [BatchCall]) async -> [BatchCallOutcome] {
        var outcomes: [BatchCallOutcome] = []
        for call in calls {
            do throws(TidelogError) {
                switch call {
                case .changes(let intents): outcomes.append(.changes(try await perform(intents, asChangeSet: true)))
                case .query(let request, let headers):
                    outcomes.append(.query(try await query(request, headers: headers)))
                case .conditional:
                    throw TidelogError(.invalidRequest, "Conditions are evaluated by the caller.")
                }
            } catch {
                outcomes.append(.failed(error))
                break
            }
        }
        return outcomes
    }
}

/// The resource that a query reads.
package enum QueryRequest: Sendable {
    /// A URL with its query options.
    case url(String)
    case set(EntitySet, QueryOptions)
    /// The targets of a navigation property of an entity.
    case related(EntityAddress, Property, QueryOptions)
    /// One entity of the store.
    case entity(EntityID)
    /// The entities that refer to an entity by their navigation property: the relationship in reverse direction.
    case sources(EntityAddress, Property, QueryOptions)
}

extension TidelogError {
    fileprivate static var notKeptHere: TidelogError {
        TidelogError(
            .unsupported,
            "A relation of an entity of a service cannot be read without suspending: reading it is a request (OData 4.01 Part 1, section 11.2.7; in V2, MS-ODATA 2.2.7.2).",
            recovery: "Read the relation with loaded(), or expand it in the query.")
    }

    fileprivate static var noStreams: TidelogError {
        TidelogError(
            .unsupported, "A historical store has no media streams.",
            recovery: "Read them from the store itself, with an OfflineODataProvider.")
    }
}
