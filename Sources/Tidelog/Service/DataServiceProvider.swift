public import EDM
public import ODataWire
public import SyncEngine

/// What answers a ``DataService``: a store (``OfflineODataProvider``) or the service itself (``OnlineODataProvider``).
///
/// The same intents mean the same for both. Apps use the providers and have no need to call these.
public protocol DataServiceProvider: Sendable {
    /// The metadata, once it is known; nil before.
    var loadedModel: EntityDataModel? { get }
    /// The metadata, read now where it is not known.
    func model() async throws(TidelogError) -> EntityDataModel
    func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult]
    func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer
    func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot
    /// Tells of each request to the service from now on; nil tells nothing. An offline provider sends some only when it is
    /// opened, uploads or downloads.
    func trace(_ trace: RequestTrace?)
}

/// Where a query starts.
public enum QueryRequest: Sendable {
    /// A URL with its query options.
    case url(String)
    case set(EntitySet, QueryOptions)
    /// What a navigation property of an entity leads to.
    case related(EntityAddress, Property, QueryOptions)
}
