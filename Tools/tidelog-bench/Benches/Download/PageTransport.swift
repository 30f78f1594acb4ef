internal import Foundation
internal import HTTPTypes
internal import Transport

/// A service that is a directory: the answer to a GET is the file of the URL's last part, or `Changed` where it has options. What a network costs is not in it.
struct PageTransport: HTTPTransport {
    let directory: String

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let target = (request.path ?? "").split(separator: "/").last ?? ""
        let name = target.contains("?") ? "Changed" : String(target)
        guard let bytes = FileManager.default.contents(atPath: directory + "/" + name) else {
            return (HTTPResponse(status: .notFound), [])
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json;odata.metadata=minimal"
        response.headerFields[HTTPField.Name("OData-Version") ?? .date] = "4.0"
        return (response, Array(bytes))
    }
}
