internal import Foundation
internal import HTTPTypes
internal import Transport

/// A service that is a directory: the answer to a GET is the file of the URL's last part, or `Changed` where it has options, in
/// chunks as a network gives them. What a network costs is not in it.
struct PageTransport: HTTPTransport {
    let directory: String

    private static let chunkSize = 65_536

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        let (response, file) = answer(request)
        return (response, Array(file?.readDataToEndOfFile() ?? Data()))
    }

    func stream(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: ResponseBody) {
        let (response, file) = answer(request)
        return (
            response,
            ResponseBody {
                do {
                    let chunk = try file?.read(upToCount: Self.chunkSize) ?? Data()
                    return .success(chunk.isEmpty ? nil : Array(chunk))
                } catch {
                    return .failure(TransportError(.other, "\(error)", mayHaveBeenSent: true))
                }
            }
        )
    }

    private func answer(_ request: HTTPRequest) -> (HTTPResponse, FileHandle?) {
        let target = (request.path ?? "").split(separator: "/").last ?? ""
        let name = target.contains("?") ? "Changed" : String(target)
        guard let file = FileHandle(forReadingAtPath: directory + "/" + name) else {
            return (HTTPResponse(status: .notFound), nil)
        }
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/json;odata.metadata=minimal"
        response.headerFields[HTTPField.Name("OData-Version") ?? .date] = "4.0"
        return (response, file)
    }
}
