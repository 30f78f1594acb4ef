public import EDM
import ODataWire

/// Reads and checks a service's metadata document.
///
/// If its URL redirects, the session continues with the root of the target, because a redirect of a modification would
/// not be followed.
public enum MetadataReading {
    /// The accepted metadata formats for the header `Accept`. V4 services may offer JSON only.
    public static let accepted = "application/xml, application/json;q=0.5"

    public static func read(_ session: ServiceSession) async throws(TidelogError) -> (
        bytes: [UInt8], model: EntityDataModel
    ) {
        let place = "GET \(session.root)$metadata"
        let response = try await session.locate("$metadata", headers: ["Accept": accepted])
        try ServiceSession.check(response, "GET", session.root + "$metadata")
        guard ClientOnlyMetadata.parts(response.body).additions == nil else {
            throw TidelogError(
                .notOData, "The metadata contain a part for stores only, which no service may send.", place: place)
        }
        do throws(CSDLError) {
            return (response.body, try CSDLReader.read(response.body))
        } catch {
            throw TidelogError(error, place: place)
        }
    }
}
