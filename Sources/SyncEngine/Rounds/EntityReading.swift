import EDM
import ODataWire
import Operations

/// Reads single entities from the service by the keys that the store knows.
struct EntityReading {
    let store: LocalStore
    let session: ServiceSession

    /// Nil where the service has no such entity, or the store does not know its key.
    func read(
        _ id: EntityID, expand: [String] = []
    ) async throws(TidelogError) -> (payload: EntityPayload, set: EntitySet)? {
        guard let (reference, set) = try await store.serviceReference(id) else { return nil }
        return try await read(reference, set, expand: expand)
    }

    /// The entities of a set that have all these values; two at most, since that is one too many already.
    ///
    /// - Parameters:
    ///   - place: where they are contained; nil where the set is one of the container.
    ///   - limit: the most that are asked for.
    func search(
        _ set: EntitySet, at place: ResourceReference? = nil, where values: [(property: Property, value: Value)],
        limit: Int = 2
    ) async throws(TidelogError) -> [EntityPayload] {
        let model = try await store.model
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: try await store.serviceOptions)
        let filter = values.map { property, value in
            let literal: String
            switch (property.type.kind, value) {
            case (.enumeration(let name), .enumeration(let members)) where !model.version.isLegacy:
                literal = PrimitiveLiteral.format(enumeration: members, typeName: name)
            case (.primitive(let type), _), (.typeDefinition(_, let type), _):
                literal = PrimitiveLiteral.format(value, as: type, version: model.version, form: .url)
            default: literal = PrimitiveLiteral.format(value, version: model.version, form: .url)
            }
            return "\(property.name) eq \(literal)"
        }.joined(separator: " and ")
        let url =
            "\(place.map(encoder.url) ?? set.segment)?$filter=\(PercentCoding.encode(filter, for: .queryValue))&$top=\(limit)"
        let response = try await session.get(url, headers: encoder.headers)
        try ServiceSession.check(response, "GET", url)
        do throws(PayloadError) {
            return try PayloadReader(version: model.version, model: model, limits: session.limits.reading).feed(
                response.body, type: set.entityType
            ).entities
        } catch {
            throw TidelogError(
                .notOData, "The answer is no collection: \(error)", place: "GET \(set.name)", cause: error)
        }
    }

    func read(
        _ reference: ResourceReference, _ set: EntitySet, expand: [String] = []
    ) async throws(TidelogError) -> (payload: EntityPayload, set: EntitySet)? {
        let model = try await store.model
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: session.root, options: try await store.serviceOptions)
        var url = encoder.url(of: reference)
        if !expand.isEmpty { url += "?$expand=" + expand.joined(separator: ",") }
        let response = try await session.get(url, headers: encoder.headers)
        if response.status == 404 || response.status == 410 { return nil }
        try ServiceSession.check(response, "GET", url)
        do throws(PayloadError) {
            return (
                try PayloadReader(version: model.version, model: model, limits: session.limits.reading).entity(
                    response.body, type: set.entityType), set
            )
        } catch {
            throw TidelogError(
                .notOData, "The answer is no entity: \(error)", place: "GET \(url.prefix { $0 != "?" })", cause: error)
        }
    }
}
