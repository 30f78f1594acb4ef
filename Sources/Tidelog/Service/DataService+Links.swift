import EDM
import ODataQuery
public import ODataWire
public import OfflineStore
import Operations

/// Links between entities, one by one and of a whole collection.
extension DataService {
    /// Creates a link between two entities. For a single-valued `property`, it replaces the existing link.
    ///
    /// - Throws: `refused` if an entity is not in the store, or if the property does not lead to the set or type of the
    ///   target. Online, the errors of a request.
    public func createLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.createLink(from, property.property, to), headers, options))
    }

    /// Sets a single-valued navigation property to another entity.
    ///
    /// - Throws: Like ``createLink(from:property:to:headers:options:)``; `refused(.wrongNavigationKind)` if the
    ///   property is collection-valued.
    public func updateLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.updateLink(from, property.property, to), headers, options))
    }

    /// Deletes a link; both entities are kept.
    ///
    /// `to` is optional if the navigation property is single-valued. In this case it is ignored online: the service
    /// removes any existing link.
    ///
    /// - Throws: `refused(.linkNotFound)` if there is no such link; `refused(.wrongNavigationKind)` if the property is
    ///   collection-valued and `to` is `nil`; `refused(.mandatoryEnd)` if an entity would lose a mandatory partner;
    ///   `noStore` if the store is not open. Online, the errors of a request.
    public func deleteLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue? = nil, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        try await perform(ChangeSet.Operation(.deleteLink(from, property.property, to), headers, options))
    }

    /// Makes a collection-valued navigation property lead to exactly the given entities: creates the missing links and
    /// deletes the remaining ones, in one change set.
    ///
    /// A store compares the targets with the links that it contains: links that no download has delivered are neither
    /// found nor deleted, so expand the property in a defining query if it has no referential constraint.
    ///
    /// An empty list deletes all links. Links that exist already are kept, and nothing is logged if nothing changes.
    /// The requests are those of single links, which every service supports; OData 4.01 has one request with the same
    /// effect (Part 1, 11.4.6.4).
    ///
    /// - Throws: `invalidRequest` if the property is not collection-valued; `refused` if the metadata forbids a deletion
    ///   or creation, for example because the other end is mandatory. Nothing is changed then.
    public func replaceLinks(
        from: EntityValue, property: some PropertyReference, with targets: [EntityValue], headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        let navigation = property.property
        guard navigation.isNavigation, navigation.isCollection else {
            throw TidelogError(
                .invalidRequest, "\(navigation.name) of \(from.entityType.name) is not a collection of entities.",
                recovery: "Use updateLink(from:property:to:) for a single target.")
        }
        let model = try await backend.model()
        let builder = IntentBuilder(model: model)
        let address = try builder.address(of: from, forReading: true)
        let whole: HTTPHeaders = ["Prefer": "odata.maxpagesize=\(Int64.max)"]
        let present = try await all(.related(address, navigation, QueryOptions()), headers: whole, model)
        var difference = LinkDifference()
        for target in targets { difference.addWanted(target, try await identity(of: target, builder)) }
        for target in present { difference.addPresent(target, try await identity(of: target, builder)) }
        let changes = ChangeSet()
        for target in difference.removed {
            changes.deleteLink(from: from, property: navigation, to: target, headers: headers, options: options)
        }
        for target in difference.added {
            changes.createLink(from: from, property: navigation, to: target, headers: headers, options: options)
        }
        guard !changes.operations.isEmpty else { return }
        try await applyChanges(changes)
    }

    /// Returns all entities of a query, in all its pages.
    private func all(
        _ request: QueryRequest, headers: HTTPHeaders, _ model: EntityDataModel
    ) async throws(TidelogError) -> [EntityValue] {
        var answer = try await backend.query(request, headers: headers)
        let factory = factory(model)
        var entities = factory.entities(answer.entities)
        while let next = answer.nextLink {
            answer = try await backend.query(.url(next), headers: headers)
            entities += factory.entities(answer.entities)
        }
        return entities
    }

    /// Returns a text that only this entity has, also if it was read by another link.
    private func identity(of entity: EntityValue, _ builder: IntentBuilder) async throws(TidelogError) -> String {
        if let id = entity.entityID { return "~\(id.rawValue)" }
        let address = try builder.address(of: entity, forReading: true)
        let snapshot = try await backend.load(address, options: QueryOptions(), headers: .empty)
        return snapshot.entityID.map { "~\($0.rawValue)" } ?? snapshot.readLink
    }
}

/// The difference between the present and the wanted targets of a navigation property.
private struct LinkDifference {
    private var wanted: [String: EntityValue] = [:]
    private var order: [String] = []
    private var kept: Set<String> = []
    /// The present targets that are not wanted.
    private(set) var removed: [EntityValue] = []

    /// The wanted targets that are not present, in the order in which they were added.
    var added: [EntityValue] { order.filter { !kept.contains($0) }.compactMap { wanted[$0] } }

    mutating func addWanted(_ target: EntityValue, _ identity: String) {
        if wanted.updateValue(target, forKey: identity) == nil { order.append(identity) }
    }

    /// Adds a present target, after all wanted ones.
    mutating func addPresent(_ target: EntityValue, _ identity: String) {
        if wanted[identity] == nil { removed.append(target) } else { kept.insert(identity) }
    }
}
