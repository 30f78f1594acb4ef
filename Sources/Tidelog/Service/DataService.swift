public import EDM
public import Logging
import ODataQuery
import ODataWire
public import OfflineStore
import SyncCore
import SyncEngine
import Synchronization

/// The entities of one OData service, with the same methods for a store and for the service itself.
///
/// Offline, each modification is validated and logged, and the method returns when the operation is durable; nothing
/// is sent before an upload. Online, the method returns after the response of the service. The methods run in the
/// caller's isolation; the provider works elsewhere.
///
/// In addition to the errors of each method, offline every method throws `noStore` if the store is not open, and
/// `damaged` or `storage` if its files cannot be read or written. *The errors of a request* are `unreachable`,
/// `unauthorized`, `service`, `postponed`, `notOData`, `tooLarge` and `cancelled`; see ``TidelogError/Code``.
///
/// `Sendable`: one service can be used by any number of tasks. The entities that it returns are not `Sendable`; each of
/// them belongs to the task that read it, and can be handed over as a `sending` result.
///
/// A subclass repeats the conformance, as generated services do, and has no mutable state of its own:
/// `class ShopService: DataService, @unchecked Sendable`.
open class DataService: @unchecked Sendable {
    // The conformance is unchecked only because the class is not final: all stored properties are constants, and the
    // settings have a lock.

    /// The store or service that executes the calls.
    public let provider: any DataServiceProvider
    let backend: any ServiceBackend
    /// The logger and the settings for traced requests.
    private let tracing = Mutex(TraceSettings())

    /// Creates a service for a provider, and passes the metadata of its classes to it.
    public init(provider: any DataServiceProvider) {
        self.provider = provider
        backend = provider.backend.calls
        if let embeddedMetadata {
            backend.adopt(ClassMetadata(embeddedMetadata, hasOpenEnumerations: hasOpenEnumerations == true))
        }
    }

    /// The classes of result objects by the qualified name of their entity type. Generated services override it.
    ///
    /// A type without class uses the class of its nearest base type, or `EntityValue` if no base type has one.
    open var entityClasses: [String: EntityValue.Type] { [:] }

    /// Whether the classes support members that are added to enumerations later (the generator's option
    /// `-open:enumerations`). Generated services override it.
    ///
    /// `nil` if there are no classes; ``refreshMetadata(_:)`` then uses the policy.
    open var hasOpenEnumerations: Bool? { nil }

    /// The metadata from which the classes were generated, or `nil` if there are no classes. Generated services
    /// override it.
    ///
    /// ``loadMetadata()``, ``refreshMetadata(_:)`` and ``OfflineODataProvider/classCompatibility`` compare the
    /// service's metadata with it.
    open var embeddedMetadata: EmbeddedMetadata? { nil }

    // MARK: Tracing

    /// The logger for traced requests, which are written at the level `debug`.
    ///
    /// Its initial level is `info`, so nothing is written until the level is set to `debug`.
    public var logger: Logger {
        get { tracing.withLock { $0.logger } }
        set { updateTrace { $0.logger = newValue } }
    }

    /// A Boolean value that indicates whether each request and its response are written to ``logger``: method, URL
    /// without query, status and sizes.
    ///
    /// Applies to all services of one provider; the last value set wins.
    public var traceRequests: Bool {
        get { tracing.withLock { $0.isEnabled } }
        set { updateTrace { $0.isEnabled = newValue } }
    }

    /// A Boolean value that indicates whether traced JSON is indented.
    public var prettyTracing: Bool {
        get { tracing.withLock { $0.isPretty } }
        set { updateTrace { $0.isPretty = newValue } }
    }

    /// A Boolean value that indicates whether headers, query options and bodies are traced as well. They contain
    /// confidential values: not for production.
    ///
    /// Only the headers of the protocol are traced with their values, all other headers as `…`, even inside a batch.
    /// Bodies are traced completely. Credentials, cookies and tokens are never traced.
    public var traceWithData: Bool {
        get { tracing.withLock { $0.withData } }
        set { updateTrace { $0.withData = newValue } }
    }

    private func updateTrace(_ change: (inout TraceSettings) -> Void) {
        tracing.withLock { settings in
            change(&settings)
            // With the lock, so that the provider has the trace of the last change.
            backend.trace(settings.trace)
        }
    }

    // MARK: Metadata

    /// Reads the metadata if it has not been read yet. An open offline provider has it already.
    ///
    /// Online, the service's metadata is compared with that of generated classes.
    ///
    /// - Throws: `incompatibleMetadata` if the classes do not support the service's metadata.
    public func loadMetadata() async throws(TidelogError) {
        if let online = backend as? OnlineODataProvider { return try await online.loadMetadata() }
        _ = try await backend.model()
    }

    /// The metadata.
    ///
    /// - Throws: `noStore` if it has not been read; see ``loadMetadata()``.
    public var metadata: EntityDataModel {
        get throws(TidelogError) {
            guard let model = backend.loadedModel else {
                throw TidelogError(
                    .noStore, "The metadata of the service is not loaded yet.",
                    recovery: "Open the offline provider, or call loadMetadata().")
            }
            return model
        }
    }

    /// Reads the service's metadata again, and installs it if the changes are compatible or approved. A good time is
    /// the start of an app.
    ///
    /// Compatible changes are new properties, types, sets, singletons, actions and functions, and nullable parameters
    /// at the end of an action. All other changes are refused: `incompatibleMetadata` lists them (its cause is an
    /// `IncompatibleMetadata`), and the previous metadata stays in use. The new metadata is compared with the
    /// previous metadata and, if there are generated classes, also with the metadata from which they were generated
    /// (``embeddedMetadata``). If there is neither, the metadata is installed without comparison.
    ///
    /// Offline, pending operations are kept. Operations that do not fit an approved change are moved to the error
    /// archive with the reason. The call waits for a running upload or download. The next download reads everything.
    ///
    /// Classes generated with `-open:enumerations` approve added members of enumerations automatically. Classes
    /// generated without it do not support such members: a policy that approves them is refused with `invalidRequest`
    /// before anything is read.
    ///
    /// - Parameter policy: the changes that are approved in advance. Classes generated from the old metadata work as
    ///   long as the metadata that they use exists. Do not approve with `canChangeAnything` if an app has such
    ///   classes: a property that has another type or has become nullable reads as `nil` or causes an error.
    /// - Throws: `incompatibleMetadata` if the changes are neither compatible nor approved; `invalidRequest` if the
    ///   classes do not support the policy; `notOData` if the response is not metadata; the errors of a request. The
    ///   previous metadata stays in use then.
    @discardableResult
    public func refreshMetadata(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        var policy = policy
        if hasOpenEnumerations == true { policy.hasOpenEnumerations = true }
        guard hasOpenEnumerations != false || !policy.hasOpenEnumerations else {
            throw TidelogError(
                .invalidRequest,
                "The policy approves added members of enumerations, but the classes of this service were generated without -open:enumerations and cannot represent them.",
                recovery: "Generate the classes with -open:enumerations, or set hasOpenEnumerations to false.")
        }
        return try await backend.refreshMetadata(policy)
    }

    /// Returns the entity set or singleton with the given name; offline also `ErrorArchive`, `RequestQueue` and
    /// `EventLog`.
    ///
    /// - Throws: `refused(.unknownEntitySet)` if there is none.
    public func entitySet(withName name: String) throws(TidelogError) -> EntitySet {
        let own = backend is OfflineODataProvider ? QueueModel.model.findEntitySet(name) : nil
        guard let set = try metadata.findEntitySet(name) ?? own else {
            throw TidelogError(.refused(.unknownEntitySet), try metadata.missingResource(name))
        }
        return set
    }

    // MARK: Entities

    /// Creates an entity with its set properties, its bindings, and the new entities that it contains. Sets its
    /// readLink.
    ///
    /// - Throws: `refused` with the rule if the metadata or the state of the store forbids it; nothing is logged then.
    ///   Online, `service` if the service rejects it, and the other errors of a request.
    public func createEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.create(entity, parent: nil), headers, options))
    }

    /// Creates an entity and links it to a parent by a single- or collection-valued navigation property of the
    /// parent.
    ///
    /// - Throws: Like ``createEntity(_:headers:options:)``; `refused(.entityNotFound)` if the parent is not in the
    ///   store.
    public func createRelatedEntity(
        _ entity: EntityValue, in parent: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.create(entity, parent: (parent, property.property)), headers, options))
    }

    /// Saves the properties that have changed since the entity was read, and its bindings. Does nothing if nothing
    /// has changed.
    ///
    /// - Throws: Like ``createEntity(_:headers:options:)``; `refused(.keyIsFixed)` if a key property has changed;
    ///   online, `service(status: 412)` if another client has changed the entity.
    public func updateEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.update(entity), headers, options))
    }

    /// Deletes an entity. An object with only an editLink is sufficient.
    ///
    /// - Throws: Like ``createEntity(_:headers:options:)``; `refused(.mandatoryEnd)` if the entity is the mandatory
    ///   partner of another entity; online, `service(status: 412)` if another client has changed the entity.
    public func deleteEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.delete(entity), headers, options))
    }

    // MARK: Change sets

    /// Applies all modifications of the change set, or none. They are also sent to the service as one change set.
    ///
    /// - Throws: The error of the first modification that is not possible, like ``createEntity(_:headers:options:)``.
    ///   No modification is applied then.
    public func applyChanges(_ changes: ChangeSet) async throws(TidelogError) {
        try await perform(changes.operations, asChangeSet: true)
        changes.isApplied = true
    }

    func perform(_ operation: ChangeSet.Operation) async throws(TidelogError) {
        try await perform([operation], asChangeSet: false)
    }

    private func perform(_ operations: [ChangeSet.Operation], asChangeSet: Bool) async throws(TidelogError) {
        let model = try await backend.model()
        let call = try ModificationCall(operations, model: model, provider: backend)
        guard !call.intents.isEmpty else { return call.apply([], factory(model)) }
        // A call with several operations is atomic.
        let asChangeSet = asChangeSet || call.intents.count > 1
        call.apply(try await backend.perform(call.intents, asChangeSet: asChangeSet), factory(model))
    }

    // MARK: Reading

    /// Executes a query with a set (``DataQuery/from(_:)``) or a URL.
    ///
    /// - Throws: `invalidRequest` if the query has neither set nor URL or does not match the metadata; `notFound` if
    ///   the URL leads to no entity; `unsupported` if the store cannot evaluate it. Online, the errors of a request.
    public func executeQuery(
        _ query: DataQuery, headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> QueryResult {
        let model = try await backend.model()
        let answer = try await backend.query(try request(query), headers: query.requestHeaders(headers))
        return result(answer, of: query.withHeaders(headers), model)
    }

    func request(_ query: DataQuery) throws(TidelogError) -> QueryRequest {
        if let url = query.url {
            guard query.options == QueryOptions() else {
                throw TidelogError(
                    .invalidRequest, "The query has a URL and further query options, which would have no effect.",
                    place: url, recovery: "Write the options into the URL, or use from(_:) instead of withURL(_:).")
            }
            guard !query.countsOnly else {
                throw TidelogError(
                    .invalidRequest, "count() cannot be combined with withURL(_:).",
                    recovery: "Use a URL that ends with /$count.")
            }
            return .url(url)
        }
        guard let set = query.set else {
            throw TidelogError(
                .invalidRequest, "The query has neither an entity set nor a URL.",
                recovery: "Add from(_:) or withURL(_:).")
        }
        return .set(set, query.resolvedOptions(set.entityType))
    }

    func result(_ answer: QueryAnswer, of query: DataQuery, _ model: EntityDataModel) -> QueryResult {
        let value: Value? =
            switch answer.form {
            case .entities, .references, .joined: nil
            case .count: answer.count.map { .integer($0) }
            case .value(let value, _), .rawValue(let value): value
            }
        return QueryResult(
            entities: answer.form == .joined ? [] : entities(answer, model),
            joinedEntities: answer.form == .joined ? joined(answer, model) : [],
            nextQuery: answer.nextLink.map(query.continued), deltaQuery: answer.deltaLink.map(query.continued),
            removedLinks: answer.removed, value: value,
            count: answer.count.flatMap { Int(exactly: $0) })
    }

    private func joined(_ answer: QueryAnswer, _ model: EntityDataModel) -> [[String: EntityValue]] {
        let factory = factory(model)
        return answer.entities.map { row in
            var entities: [String: EntityValue] = [:]
            for part in row.expanded { entities[part.navigation] = part.entities.first.flatMap { factory.entity($0) } }
            return entities
        }
    }

    /// Reads an entity again, or for the first time if only its readLink or key is set.
    ///
    /// - Parameters:
    ///   - entity: the entity to be updated.
    ///   - query: the properties to select and expand.
    ///   - headers: additional headers of the request.
    /// - Throws: `notFound` or `refused(.entityNotFound)` if there is no such entity; `invalidRequest` if the query
    ///   does not match the metadata. Online, the errors of a request.
    public func loadEntity(
        _ entity: EntityValue, _ query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) {
        let model = try await backend.model()
        let address = try IntentBuilder(model: model).address(of: entity, forReading: true)
        let snapshot = try await backend.load(
            address, options: query.resolvedOptions(entity.entityType), headers: query.requestHeaders(headers))
        entity.apply(snapshot, factory(model))
    }

    /// Reads a structural or navigation property of an entity that has been read, or whose key or readLink is set.
    ///
    /// - Throws: Like ``loadEntity(_:_:headers:)``.
    public func loadProperty(
        _ property: some PropertyReference, into entity: EntityValue, _ query: DataQuery = DataQuery(),
        headers: HTTPHeaders = .empty
    ) async throws(TidelogError) {
        let property = property.property
        let model = try await backend.model()
        let address = try IntentBuilder(model: model).address(of: entity, forReading: true)
        guard property.isNavigation else {
            var options = QueryOptions()
            options.select = [SelectItem(property.name)]
            let snapshot = try await backend.load(address, options: options, headers: headers)
            entity.values[property.name] = snapshot.values[property.name]
            entity.savedValues[property.name] = snapshot.values[property.name]
            return
        }
        let answer = try await backend.query(
            .related(address, property, query.options), headers: query.requestHeaders(headers))
        entity.relation(property).resolve(entities(answer, model))
    }

    // MARK: Objects

    func factory(_ model: EntityDataModel) -> EntityFactory {
        EntityFactory(model: model, classes: entityClasses, provider: backend, logger: logger)
    }

    private func entities(_ answer: consuming QueryAnswer, _ model: EntityDataModel) -> [EntityValue] {
        factory(model).entities(moving: &answer.entities)
    }
}

/// The settings for traced requests.
private struct TraceSettings {
    var logger = Logger(label: "tidelog.odata")
    var isEnabled = false
    var isPretty = false
    var withData = false

    var trace: RequestTrace? {
        guard isEnabled, logger.logLevel <= .debug else { return nil }
        return RequestTrace(withData: withData, isPretty: isPretty) { [logger] in logger.debug("\($0)") }
    }
}
