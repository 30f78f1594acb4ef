public import EDM
public import Logging
import ODataWire
import SyncCore
public import SyncEngine

/// Entities of one OData service, by the same calls whether the provider is a store or the service itself.
///
/// Offline, each modifying call validates, logs and returns when the operation is durable; nothing is sent before an upload.
/// Online, it returns when the service has answered. Calls run where they are called from; the provider does its work
/// elsewhere.
open class DataService {
    public let provider: any DataServiceProvider

    public init(provider: any DataServiceProvider) {
        self.provider = provider
        if let embeddedMetadata {
            provider.adopt(ClassMetadata(embeddedMetadata, hasOpenEnumerations: hasOpenEnumerations == true))
        }
    }

    /// The classes that results are made of, by the qualified name of their entity type. Generated services override it. A
    /// type that has none gets the class of its nearest base type, and `EntityValue` where no base type has one either.
    open var entityClasses: [String: EntityValue.Type] { [:] }

    /// Whether the classes take members of enumerations that are added later: what the generator's `-open:enumerations`
    /// says. Generated services override it. nil: there are no classes, and ``refreshMetadata(_:)`` leaves it to the policy.
    open var hasOpenEnumerations: Bool? { nil }

    /// The metadata that the classes were generated from. Generated services override it; ``loadMetadata()``,
    /// ``refreshMetadata(_:)`` and ``OfflineODataProvider/classCompatibility`` compare with them. nil: there are no classes.
    open var embeddedMetadata: EmbeddedMetadata? { nil }

    // MARK: Tracing

    /// Where traced requests are written, at the level debug. Its own level is `info` at the beginning, so that nothing is
    /// written before it is set to `debug`.
    public var logger = Logger(label: "tidelog.odata") { didSet { updateTrace() } }

    /// Whether each request to the service and its answer are written to ``logger``: method, URL without query, status and
    /// sizes. Holds for all services of one provider; the last that was set counts.
    public var traceRequests = false { didSet { updateTrace() } }

    /// Whether traced JSON is broken into lines and indented.
    public var prettyTracing = false { didSet { updateTrace() } }

    /// Whether headers, query options and bodies are traced as well. They hold confidential values: not for production.
    ///
    /// Of headers only those of the protocol show their value, others `…`, inside of a batch too. Bodies are
    /// shown as they are otherwise.
    /// Credentials, cookies and tokens are left out in any case.
    public var traceWithData = false { didSet { updateTrace() } }

    private func updateTrace() {
        let logger = logger
        provider.trace(
            traceRequests && logger.logLevel <= .debug
                ? RequestTrace(withData: traceWithData, isPretty: prettyTracing) { logger.debug("\($0)") } : nil)
    }

    // MARK: Metadata

    /// Reads the metadata if they were not read before. An opened offline provider knows them. Online, with generated
    /// classes, the service's are compared with those of the classes.
    ///
    /// - Throws: `incompatibleMetadata` if the classes cannot live with them.
    public func loadMetadata() async throws(TidelogError) {
        if let online = provider as? OnlineODataProvider { return try await online.loadMetadata() }
        _ = try await provider.model()
    }

    /// The metadata. Throws `noStore` before it is known; see ``loadMetadata()``.
    public var metadata: EntityDataModel {
        get throws(TidelogError) {
            guard let model = provider.loadedModel else {
                throw TidelogError(
                    .noStore, "The metadata of the service is not known yet.",
                    recovery: "Open the offline provider, or call loadMetadata().")
            }
            return model
        }
    }

    /// Reads the service's metadata again, and takes them over where what changed is compatible with the metadata known so
    /// far, or approved. A good moment is the start of an app.
    ///
    /// Compatible are new properties, types, sets, singletons, actions and functions, and nullable parameters at the end of
    /// an action. Anything else is refused: `incompatibleMetadata` lists it (its cause is an `IncompatibleMetadata`), and
    /// the metadata that were known stay in force. Compared are the metadata known so far, and with generated classes also
    /// those that the classes were generated from (``embeddedMetadata``), whatever was read since. If there are neither, the
    /// service's are read, and nothing is compared.
    ///
    /// Offline, pending operations are kept; those that an approved change leaves no place for go to the error archive
    /// with the reason. It waits for an upload or download that runs. Afterwards the next download reads everything.
    ///
    /// Classes that were generated with `-open:enumerations` approve added members of enumerations by themselves. Those
    /// that were generated without have no place for them: a policy that approves them is refused with `invalidRequest`
    /// before anything is read.
    ///
    /// - Parameter policy: which changes are approved beforehand. Classes that were generated for the old metadata go on
    ///   working as long as what they are made of is there. So don't approve with `canChangeAnything` where an app has such
    ///   classes: what has another type, or may be null now, reads as nil there or ends in an error.
    @discardableResult
    public func refreshMetadata(
        _ policy: CompatibilityPolicy = CompatibilityPolicy()
    ) async throws(TidelogError) -> MetadataRefresh {
        var policy = policy
        if hasOpenEnumerations == true { policy.hasOpenEnumerations = true }
        guard hasOpenEnumerations != false || !policy.hasOpenEnumerations else {
            throw TidelogError(
                .invalidRequest,
                "The policy approves added members of enumerations, but the classes of this service were generated without -open:enumerations and have no place for them.",
                recovery: "Generate the classes with -open:enumerations, or leave hasOpenEnumerations false.")
        }
        return try await provider.refreshMetadata(policy)
    }

    /// The entity set or singleton of that name; offline also `ErrorArchive`, `RequestQueue` and
    /// `EventLog`. Throws `refused(.unknownEntitySet)` where there is none.
    public func entitySet(withName name: String) throws(TidelogError) -> EntitySet {
        let own = provider is OfflineODataProvider ? QueueModel.model.findEntitySet(name) : nil
        guard let set = try metadata.findEntitySet(name) ?? own else {
            throw TidelogError(.refused(.unknownEntitySet), try metadata.missingResource(name))
        }
        return set
    }

    // MARK: Entities

    /// Creates the entity with all that is set, its bindings, and the new entities below it. Afterwards it has a readLink.
    public func createEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.create(entity, parent: nil), headers, options))
    }

    /// Creates an entity and links it to a parent, through the parent's single- or collection-valued navigation property.
    public func createRelatedEntity(
        _ entity: EntityValue, in parent: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.create(entity, parent: (parent, property.property)), headers, options))
    }

    /// Saves the properties that changed since the entity was read, and its bindings. Does nothing where nothing changed.
    public func updateEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.update(entity), headers, options))
    }

    /// Deletes the entity. One with an editLink only will do.
    public func deleteEntity(
        _ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.delete(entity), headers, options))
    }

    // MARK: Links

    /// Links two entities. `property` may be on a one end or on a many end; on a one end it replaces what is linked there.
    public func createLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.createLink(from, property.property, to), headers, options))
    }

    /// Points a single-valued navigation property to another entity.
    public func updateLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.updateLink(from, property.property, to), headers, options))
    }

    /// Removes a link; both entities stay. `to` may be left out for a single-valued navigation property. Online it does not
    /// matter there: the service removes whatever is linked.
    public func deleteLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue? = nil, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.deleteLink(from, property.property, to), headers, options))
    }

    // MARK: Change sets

    /// Applies all operations of the change set, or none. They also travel to the service as one.
    public func applyChanges(_ changes: ChangeSet) async throws(TidelogError) {
        try await perform(changes.operations, asChangeSet: true)
        changes.isApplied = true
    }

    private func perform(_ operation: ChangeSet.Operation) async throws(TidelogError) {
        try await perform([operation], asChangeSet: false)
    }

    private func perform(_ operations: [ChangeSet.Operation], asChangeSet: Bool) async throws(TidelogError) {
        let model = try await provider.model()
        let call = try ModificationCall(operations, model: model, provider: provider)
        guard !call.intents.isEmpty else { return call.apply([], factory(model)) }
        // A call that takes several operations is all of them or none.
        let asChangeSet = asChangeSet || call.intents.count > 1
        call.apply(try await provider.perform(call.intents, asChangeSet: asChangeSet), factory(model))
    }

    // MARK: Reading

    /// Executes a query that names its set (``DataQuery/from(_:)``) or its URL.
    public func executeQuery(
        _ query: DataQuery, headers: HTTPHeaders = .empty
    ) async throws(TidelogError) -> QueryResult {
        let model = try await provider.model()
        var headers = headers
        if let size = query.size { headers.add(name: "Prefer", value: "odata.maxpagesize=\(size)") }
        return result(try await provider.query(try request(query), headers: headers), model)
    }

    func request(_ query: DataQuery) throws(TidelogError) -> QueryRequest {
        if let url = query.url { return .url(url) }
        guard let set = query.set else {
            throw TidelogError(
                .invalidRequest, "The query says neither a set nor a URL.", recovery: "Add from(_:) or withURL(_:).")
        }
        return .set(set, query.resolvedOptions(set.entityType))
    }

    func result(_ answer: QueryAnswer, _ model: EntityDataModel) -> QueryResult {
        let value: Value? =
            switch answer.form {
            case .entities, .references: nil
            case .count: answer.count.map { .integer($0) }
            case .value(let value, _), .rawValue(let value): value
            }
        return QueryResult(
            entities: entities(answer, model),
            nextQuery: answer.nextLink.map { DataQuery().withURL($0) }, value: value,
            count: answer.count.flatMap { Int(exactly: $0) })
    }

    /// Reads an entity again, or for the first time where only its readLink or key is set.
    ///
    /// - Parameter query: what to select and expand.
    public func loadEntity(
        _ entity: EntityValue, _ query: DataQuery = DataQuery(), headers: HTTPHeaders = .empty
    ) async throws(TidelogError) {
        let model = try await provider.model()
        let address = try IntentBuilder(model: model).address(of: entity, forReading: true)
        let snapshot = try await provider.load(
            address, options: query.resolvedOptions(entity.entityType), headers: headers)
        entity.apply(snapshot, factory(model))
    }

    /// Reads a structural or navigation property of an entity that was read before, or whose key or readLink is set.
    public func loadProperty(
        _ property: some PropertyReference, into entity: EntityValue, _ query: DataQuery = DataQuery(),
        headers: HTTPHeaders = .empty
    ) async throws(TidelogError) {
        let property = property.property
        let model = try await provider.model()
        let address = try IntentBuilder(model: model).address(of: entity, forReading: true)
        guard property.isNavigation else {
            var options = QueryOptions()
            options.select = [SelectItem(property.name)]
            let snapshot = try await provider.load(address, options: options, headers: headers)
            entity.values[property.name] = snapshot.values[property.name]
            entity.savedValues[property.name] = snapshot.values[property.name]
            return
        }
        var headers = headers
        if let size = query.size { headers.add(name: "Prefer", value: "odata.maxpagesize=\(size)") }
        let answer = try await provider.query(.related(address, property, query.options), headers: headers)
        entity.relation(property).resolve(entities(answer, model))
    }

    // MARK: Objects

    func factory(_ model: EntityDataModel) -> EntityFactory {
        EntityFactory(model: model, classes: entityClasses, provider: provider, logger: logger)
    }

    private func entities(_ answer: QueryAnswer, _ model: EntityDataModel) -> [EntityValue] {
        let factory = factory(model)
        return answer.entities.compactMap { factory.entity($0) }
    }
}
