public import EDM
public import OfflineStore
import SyncEngine
public import Transport

/// Reads the metadata of services without creating a store.
public enum ServiceMetadata {
    /// Reads the metadata of a service.
    ///
    /// - Parameters:
    ///   - url: a service root, or the URL of the metadata document: a URL that ends in `$metadata`, `.xml`, `.edmx`,
    ///     `.csdl` or `.json` is read directly.
    ///   - transport: sends the request; `nil` for the platform's transport.
    ///   - credentials: the credentials that are sent to the service.
    /// - Returns: The model.
    /// - Throws: `notOData` if the response is not metadata; `unreachable`, `unauthorized`, `service` or `tooLarge` if
    ///   the document cannot be read.
    public static func read(
        from url: String, transport: (any HTTPTransport)? = nil, credentials: Credentials = .none
    ) async throws(TidelogError) -> EntityDataModel {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let isDocument = ["$metadata", ".xml", ".edmx", ".csdl", ".json"].contains { path.lowercased().hasSuffix($0) }
        let session = ServiceSession(
            root: url, transport: transport ?? defaultTransport(), credentials: credentials)
        guard isDocument else { return try await MetadataReading.read(session).model }
        let response = try await session.get(url, headers: ["Accept": MetadataReading.accepted])
        try response.requireSuccess("GET", url)
        do throws(CSDLError) {
            return try CSDLReader.read(response.body)
        } catch {
            throw TidelogError(error, place: "GET \(path)")
        }
    }
}
