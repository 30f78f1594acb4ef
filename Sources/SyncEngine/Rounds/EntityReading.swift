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
                try PayloadReader(version: model.version, model: model).entity(response.body, type: set.entityType), set
            )
        } catch {
            throw TidelogError(
                .notOData, "The answer is no entity: \(error)", place: "GET \(url.prefix { $0 != "?" })", cause: error)
        }
    }
}
