public import EDM
import ODataWire

/// Reads and checks a service's metadata document. If its address is redirected, the session goes on at the root that it leads
/// to: a redirect of a modification would not be followed.
public enum MetadataReading {
    /// The formats of metadata, for the header `Accept`: services of V4 may have JSON alone.
    public static let accepted = "application/xml, application/json;q=0.5"

    public static func read(_ session: ServiceSession) async throws(TidelogError) -> (
        bytes: [UInt8], model: EntityDataModel
    ) {
        let place = "GET \(session.root)$metadata"
        let response = try await session.locate("$metadata", headers: ["Accept": accepted])
        try ServiceSession.check(response, "GET", session.root + "$metadata")
        do throws(CSDLError) {
            return (response.body, try CSDLReader.read(response.body))
        } catch {
            throw TidelogError(error, place: place)
        }
    }
}
