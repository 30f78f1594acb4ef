import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Reads single entities from the service by their known keys.
struct EntityReader {
    let store: LocalStore
    let session: ServiceSession

    /// Reads an entity. Returns nil if the service does not have it or the store does not know its key.
    func read(
        _ id: EntityID, expand: [String] = []
    ) async throws(TidelogError) -> (payload: EntityPayload, set: EntitySet)? {
        guard let (reference, set) = try await store.references.serviceReference(id) else { return nil }
        return try await read(reference, set, expand: expand)
    }

    /// Returns the entities of a set that have all these values. The result has at most two, because two already
    /// disprove uniqueness.
    ///
    /// - Parameter place: The containing collection, or nil if the set belongs to the entity container.
    func search(
        _ set: EntitySet, at place: ResourceReference? = nil, where values: [(property: Property, value: Value)]
    ) async throws(TidelogError) -> [EntityPayload] {
        let version = try await store.model.version
        let filter = values.map { "\(Self.path($0, set, version)) eq \(Self.literal($1, of: $0, version))" }
            .joined(separator: " and ")
        return try await search(set, at: place, filter: filter, limit: 2).entities
    }

    /// Returns the entities of a set that satisfy all conditions.
    ///
    /// - Parameters:
    ///   - place: The containing collection, or nil if the set belongs to the entity container.
    ///   - expand: Navigation properties to expand.
    ///   - limit: The largest number of entities to request.
    func search(
        _ set: EntitySet, at place: ResourceReference? = nil, where conditions: [ValueCondition], expand: [String],
        limit: Int
    ) async throws(TidelogError) -> (entities: [EntityPayload], isComplete: Bool) {
        let version = try await store.model.version
        let filter = conditions.map { condition in
            let property = condition.property
            let name = Self.path(property, set, version)
            let terms = condition.alternatives.map { term in
                switch term {
                case .equal(let value): "\(name) eq \(Self.literal(value, of: property, version))"
                case .between(let first, let last):
                    "(\(name) ge \(Self.literal(first, of: property, version)) and "
                        + "\(name) le \(Self.literal(last, of: property, version)))"
                }
            }.joined(separator: " or ")
            return condition.alternatives.count > 1 && conditions.count > 1 ? "(\(terms))" : terms
        }.joined(separator: " and ")
        return try await search(set, at: place, filter: filter, expand: expand, limit: limit)
    }

    /// Follows next links if the service returns fewer entities than requested.
    private func search(
        _ set: EntitySet, at place: ResourceReference?, filter: String, expand: [String] = [], limit: Int
    ) async throws(TidelogError) -> (entities: [EntityPayload], isComplete: Bool) {
        let model = try await store.model
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: try await store.serviceOptions)
        var url =
            "\(place.map(encoder.url) ?? set.segment)?$filter=\(PercentCoding.encode(filter, for: .queryValue))&$top=\(limit)"
        if !expand.isEmpty { url += "&$expand=" + Self.paths(expand, set, model) }
        var found: [EntityPayload] = []
        while true {
            let response = try await session.get(url, headers: encoder.headers)
            try response.requireSuccess("GET", url)
            let feed: FeedPayload
            do throws(PayloadError) {
                feed = try PayloadReader(version: model.version, model: model, limits: session.limits.reading).feed(
                    response.body, type: set.entityType)
            } catch {
                throw TidelogError(
                    .notOData, "The response is not a collection: \(error)", place: "GET \(set.name)", cause: error)
            }
            found += feed.entities
            if found.count >= limit { return (found, false) }
            guard let next = feed.nextLink, !feed.entities.isEmpty else { return (found, feed.nextLink == nil) }
            guard session.isOfService(next) else { return (found, false) }
            url = next
        }
    }

    /// Returns the path of a property, with a cast if the declared type of the set does not have it.
    private static func path(_ property: Property, _ set: EntitySet, _ version: ODataVersion) -> String {
        guard version.hasTypeSegments, let cast = set.cast(for: property) else { return property.name }
        return cast + "/" + property.name
    }

    /// Returns the paths of navigation properties. A property of derived types is expanded for each of them.
    private static func paths(_ names: [String], _ set: EntitySet, _ model: EntityDataModel) -> String {
        names.flatMap { name in
            let paths = model.declarations(of: name, in: set.entityType).map { path($0, set, model.version) }
            return paths.isEmpty || !model.version.hasTypeSegments ? [name] : paths
        }.joined(separator: ",")
    }

    private static func literal(_ value: Value, of property: Property, _ version: ODataVersion) -> String {
        switch (property.type.kind, value) {
        case (.enumeration(let name), .enumeration(let members)) where !version.isLegacy:
            PrimitiveLiteral.format(enumeration: members, typeName: name)
        case (.primitive(let type), _), (.typeDefinition(_, let type), _):
            PrimitiveLiteral.format(value, as: type, version: version, form: .url)
        default: PrimitiveLiteral.format(value, version: version, form: .url)
        }
    }

    func read(
        _ reference: ResourceReference, _ set: EntitySet, expand: [String] = []
    ) async throws(TidelogError) -> (payload: EntityPayload, set: EntitySet)? {
        let model = try await store.model
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: try await store.serviceOptions)
        var url = encoder.url(of: reference)
        if !expand.isEmpty { url = encoder.adding("$expand=" + Self.paths(expand, set, model), to: url) }
        let response = try await session.get(url, headers: encoder.headers)
        if response.status == 404 || response.status == 410 { return nil }
        try response.requireSuccess("GET", url)
        do throws(PayloadError) {
            return (
                try PayloadReader(version: model.version, model: model, limits: session.limits.reading).entity(
                    response.body, type: set.entityType), set
            )
        } catch {
            throw TidelogError(
                .notOData, "The response is not an entity: \(error)", place: "GET \(url.prefix { $0 != "?" })",
                cause: error)
        }
    }
}
