package import EDM
import ODataWire
package import OfflineStore

/// Reads and checks a service's metadata document, and the documents of the same server that it references and needs.
///
/// If its URL redirects, the session continues with the root of the target, because a redirect of a modification would
/// not be followed.
package enum MetadataReading {
    /// The accepted metadata formats for the header `Accept`. V4 services may offer JSON only.
    package static let accepted = "application/xml, application/json;q=0.5"

    /// - Parameter models: The source of the model of the document.
    package static func read(
        _ session: ServiceSession, models: ModelSource = .parser
    ) async throws(TidelogError) -> (bytes: [UInt8], model: EntityDataModel) {
        let place = "GET \(session.root)$metadata"
        let response = try await session.locate("$metadata", headers: ["Accept": accepted])
        try response.requireSuccess("GET", session.root + "$metadata")
        guard ClientOnlyMetadata.parts(response.body).additions == nil,
            ReferencedMetadata.parts(response.body).count == 1
        else {
            throw TidelogError(
                .notOData, "The metadata contain a part for stores only, which no service may send.", place: place)
        }
        do {
            let model = try models.read(response.body)
            return try await withReferences(response.body, model, session)
        } catch let error as CSDLError {
            throw TidelogError(error, place: place)
        } catch let error as TidelogError {
            throw error
        } catch {
            throw TidelogError(.notOData, "\(error)", place: place, cause: error)
        }
    }

    /// Adds the referenced documents that declare needed types. One that the service does not have, that is no metadata,
    /// or that is on another server is left out; the defects of the model then name the missing types.
    private static func withReferences(
        _ document: [UInt8], _ model: EntityDataModel, _ session: ServiceSession
    ) async throws(TidelogError) -> (bytes: [UInt8], model: EntityDataModel) {
        var (model, references) = (model, [[UInt8]]())
        var requested: Set<String> = []
        while references.count < ReferencedMetadata.limit {
            let uris = ReferencedMetadata.missing(in: model).flatMap(\.uris)
            guard let uri = uris.first(where: { !requested.contains($0) }) else { break }
            requested.insert(uri)
            guard let found = try await referenced(uri, session),
                let joined = try? CSDLReader.read(ReferencedMetadata.joined(document, references: references + [found]))
            else { continue }
            references.append(found)
            model = joined
        }
        return (ReferencedMetadata.joined(document, references: references), model)
    }

    private static func referenced(_ uri: String, _ session: ServiceSession) async throws(TidelogError) -> [UInt8]? {
        let url = session.resolve(uri, from: "$metadata")
        guard session.isOfService(url) else { return nil }
        let response = try await session.get(url, headers: ["Accept": accepted])
        // Request Timeout and Too Many Requests are temporary.
        if 400..<500 ~= response.status, response.status != 408, response.status != 429 { return nil }
        try response.requireSuccess("GET", url)
        guard ClientOnlyMetadata.parts(response.body).additions == nil,
            ReferencedMetadata.parts(response.body).count == 1
        else { return nil }
        return response.body
    }
}
