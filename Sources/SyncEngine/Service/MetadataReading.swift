public import EDM
import ODataWire

/// Reads and checks a service's metadata document.
public enum MetadataReading {
    public static func read(_ session: ServiceSession) async throws(TidelogError) -> (
        bytes: [UInt8], model: EntityDataModel
    ) {
        let place = "GET \(session.root)$metadata"
        let response = try await session.get("$metadata", headers: ["Accept": "application/xml"])
        try ServiceSession.check(response, "GET", session.root + "$metadata")
        do throws(CSDLError) {
            return (response.body, try CSDLReader.read(response.body))
        } catch {
            throw TidelogError(
                .notOData, "What the service gave as its metadata is none: \(error)", place: place,
                recovery: "Check the service root; it ends before $metadata.", cause: error)
        }
    }
}
